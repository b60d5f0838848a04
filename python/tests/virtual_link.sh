#!/bin/sh
# First process of a kernel in virtual time (virtual_link_tests.py), whose root folder is this machine's, read-only: runs
# the command of the job in a folder that is written, and switches off.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /run
mkdir /run/job /run/tmp
mount -t hostfs none /run/job -o /proc/self/cwd/job
cd /run/job || exit
# One thread, nothing written beside what is asked for, and no hash that differs from run to run.
export TMPDIR=/run/tmp POLARS_MAX_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
sh ./command >said 2>&1 && : >done
"$(cat guest)" off
