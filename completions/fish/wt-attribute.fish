complete -c wt-attribute -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-attribute -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-attribute -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-attribute -l node -d 'The node' -r
complete -c wt-attribute -l iter -d 'The iteration [default: the highest that has both ends]' -r
complete -c wt-attribute -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-attribute -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-attribute -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-attribute -s v -l verbose -d 'Say more on standard error'
complete -c wt-attribute -s h -l help -d 'Print help'
complete -c wt-attribute -s V -l version -d 'Print version'
