"""The process that carries packets: ``python -m aqmlab.live.worker REQUEST DESCRIPTOR PARENT``.

Its namespaces are others once it has begun, and for that it has one thread. It answers on a descriptor; standard
streams are the command's.
"""

from __future__ import annotations

import json
import os
import sys

from aqmlab import _native


def main() -> None:
    """Run the link that is asked for, and answer with its report or with what is wrong."""
    request, descriptor, parent = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(descriptor, False)
    answer: dict[str, object]
    try:
        config = json.dumps(request["config"])
        report = json.loads(_native.link(config, request["command"], request["servers"], parent))
        answer = {"report": report}
    except _native.InputError as error:
        answer = {"input": str(error)}
    except OSError as error:
        answer = {"machine": str(error)}
    with open(descriptor, "w") as to:
        json.dump(answer, to)


if __name__ == "__main__":
    main()
