complete -c wt-restore -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-restore -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-restore -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-restore -l max-file-size -d 'Larger files are gaps; K, M and G are understood [default: $ITERION_WORKSPACE_MAX_FILE_MB, else 32M]' -r
complete -c wt-restore -l protect -d 'Leave this path, and what lies below it, as it is' -r -F
complete -c wt-restore -l keep-edited -d 'Leave a path that no longer is what this snapshot recorded' -r
complete -c wt-restore -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-restore -s z -d 'Items end in NUL and names are raw bytes, on input and output'
complete -c wt-restore -s n -l dry-run -d 'Print what would be done and change nothing'
complete -c wt-restore -l as-if-banked -d 'With --dry-run, take as banked what a bank taken now would hold'
complete -c wt-restore -l paths-from-stdin -d 'Touch only the paths that stand on standard input, and what lies below them'
complete -c wt-restore -l exact -d 'With --paths-from-stdin, only the paths themselves, and nothing below them'
complete -c wt-restore -l require-end -d 'With --paths-from-stdin, a list without its end mark is an error'
complete -c wt-restore -l relocate -d 'Restore a snapshot of another workspace into this one'
complete -c wt-restore -l force -d 'Store bytes that have no copy, whatever the size limit and the rules, and then replace them'
complete -c wt-restore -l all-or-nothing -d 'Change nothing unless nothing has to be left out'
complete -c wt-restore -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-restore -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-restore -s v -l verbose -d 'Say more on standard error'
complete -c wt-restore -s h -l help -d 'Print help'
complete -c wt-restore -s V -l version -d 'Print version'
