complete -c wt-lock -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-lock -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-lock -s s -d 'Share the lock, as captures do'
complete -c wt-lock -s x -d 'Hold the lock alone, as a restore does; this is the default'
complete -c wt-lock -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-lock -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-lock -s v -l verbose -d 'Say more on standard error'
complete -c wt-lock -s h -l help -d 'Print help'
complete -c wt-lock -s V -l version -d 'Print version'
