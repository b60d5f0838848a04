"""Runs a module that an interrupt ends at once and without a word: ``python quietly.py MODULE ARGUMENTS``.

Who started it says what was interrupted. It is run by its path: what the module needs is imported when that is settled.
"""

import runpy
import signal
import sys

SIGNALS = (signal.SIGINT, signal.SIGQUIT)

if __name__ == "__main__":
    for one in SIGNALS:
        signal.signal(one, signal.SIG_DFL)
    # They are held back where a process must not receive them before.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
