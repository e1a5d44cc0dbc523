complete -c wt-gates -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-gates -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-gates -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-gates -l gate -d 'Only this gate' -r
complete -c wt-gates -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-gates -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-gates -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-gates -s v -l verbose -d 'Say more on standard error'
complete -c wt-gates -s h -l help -d 'Print help'
complete -c wt-gates -s V -l version -d 'Print version'
