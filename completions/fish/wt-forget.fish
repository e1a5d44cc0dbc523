complete -c wt-forget -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-forget -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-forget -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-forget -l keep-last -d 'Keep the newest N snapshots' -r
complete -c wt-forget -l keep-within -d 'Keep what was made within this time; s, m, h and d are understood' -r
complete -c wt-forget -l keep-labels -d 'Keep what a matching label names or was made under; may be given more than once' -r
complete -c wt-forget -l drop-labels -d 'Labels that match protect nothing and go with their snapshot; may be given more than once' -r
complete -c wt-forget -l max-bytes -d 'Drop the oldest until the files of the rest take no more than this; K, M and G are understood' -r
complete -c wt-forget -l store-max-bytes -d 'The same over all runs of the store' -r
complete -c wt-forget -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c wt-forget -s n -l dry-run -d 'Say what would go and change nothing'
complete -c wt-forget -l keep-gates -d 'Keep what a gate names or was made at'
complete -c wt-forget -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-forget -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-forget -s v -l verbose -d 'Say more on standard error'
complete -c wt-forget -s h -l help -d 'Print help'
complete -c wt-forget -s V -l version -d 'Print version'
