#!/bin/bash
# A summary of files too large for one machine, by an array of 16 jobs of a Slurm queue:
#   bash job_array.sh a.csv b.csv      on the login node; the summary of all is s in the end
# A job that has failed or was stopped goes on from its checkpoint: submit the array again.
#SBATCH --cpus-per-task=4 --mem=4G --time=4:00:00
set -eu
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then  # one job of the array
  part=$SLURM_ARRAY_TASK_ID
  exec cgmca summarize "$@" --part "$part/$SLURM_ARRAY_TASK_COUNT" -o "part$part" \
    --checkpoint "part$part.checkpoint" --resume --progress plain
fi
cgmca index "$@"  # only where the inputs are .csv or .tsv
jobs=$(sbatch --parsable --array=1-16 "$0" "$@")
sbatch --parsable --dependency="afterok:$jobs" --wrap="cgmca merge $(printf 'part%d ' {1..16}) -o s"
