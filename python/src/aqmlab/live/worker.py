"""The process that carries packets: ``python -m aqmlab.live.worker REQUEST ANSWERS WORDS PARENT``.

Its namespaces are others once it has begun, and for that it has one thread. It answers on a descriptor, and waits for a
word on another while it is at the far end; standard streams are the command's.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

from aqmlab import _native
from aqmlab.vocabulary.errors import defect

AT_THE_FAR_END = b"far\n"


def main() -> None:
    """Run the link that is asked for, and answer with its report or with what is wrong."""
    request = json.loads(sys.argv[1])
    answers, words, parent = map(int, sys.argv[2:])
    for one in (answers, words):
        os.set_inheritable(one, False)

    def join() -> None:
        os.write(answers, AT_THE_FAR_END)
        if not os.read(words, 1):
            raise OSError("no route to it was made")

    answer: dict[str, object]
    try:
        config = json.dumps(request["config"])
        report = json.loads(_native.link(config, request["command"], request["servers"], parent, join))
        answer = {"report": report}
    except _native.InputError as error:
        answer = {"input": str(error)}
    except OSError as error:
        answer = {"machine": str(error)}
    except BaseException as error:
        found = defect(error)
        if found is None:
            raise
        answer = {"defect": str(found)}
    # Nobody waits for it where the process that started this one was killed.
    with suppress(BrokenPipeError), open(answers, "w") as to:
        json.dump(answer, to)


if __name__ == "__main__":
    main()
