complete -c wt-rewind -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-rewind -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-rewind -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-rewind -l max-files -d 'More captured files than this are an error' -r
complete -c wt-rewind -l max-file-size -d 'Larger files are gaps; K, M and G are understood [default: $ITERION_WORKSPACE_MAX_FILE_MB, else 32M]' -r
complete -c wt-rewind -l node -d 'The node to go back to before' -r
complete -c wt-rewind -l iter -d 'The iteration, or the last one before it that has a boundary [default: the last one]' -r
complete -c wt-rewind -l restore-scope -d 'What to restore' -r -f -a "produced\t'What the run produced'
full\t'The whole tree'
none\t'Nothing: only check, and append the event'"
complete -c wt-rewind -l protect -d 'Leave this path, and what lies below it, as it is' -r -F
complete -c wt-rewind -l event-data -d 'Members to add to the event\'s data, a JSON object' -r
complete -c wt-rewind -l restore-snapshot -d 'Bank, then restore the whole tree of this snapshot, as wt-undo does' -r
complete -c wt-rewind -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-rewind -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-rewind -l keep-edited -d 'Leave a path that no longer is as the newest boundary recorded it'
complete -c wt-rewind -l all-or-nothing -d 'Change nothing unless nothing has to be left out'
complete -c wt-rewind -s n -l dry-run -d 'Say what would be done; no bank, no event, nothing changed'
complete -c wt-rewind -l list-snapshots -d 'List the snapshots of the run, as wt-log does'
complete -c wt-rewind -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-rewind -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-rewind -s v -l verbose -d 'Say more on standard error'
complete -c wt-rewind -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wt-rewind -s V -l version -d 'Print version'
