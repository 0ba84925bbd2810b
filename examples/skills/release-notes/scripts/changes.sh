#!/bin/sh
# Prints the subjects of the commits since the last tag, or of all commits without a tag.
last=$(git describe --tags --abbrev=0 2>/dev/null)
git log --no-merges --format='%h %s' ${last:+"$last"..}HEAD
