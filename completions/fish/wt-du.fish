complete -c wt-du -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-du -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-du -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-du -l by -d 'What a row stands for' -r -f -a "run\t''
snapshot\t''
dir\t''
file\t''
extension\t''"
complete -c wt-du -l depth -d 'With --by dir: how many components deep [default: 1]' -r
complete -c wt-du -l warn-bytes -d 'Warn if the pool holds more than this; K, M and G are understood' -r
complete -c wt-du -l all-runs -d 'Count all runs of the store, also where WT_RUN names one'
complete -c wt-du -l growth -d 'What each snapshot brought'
complete -c wt-du -l retention -d 'What some ways to forget would free'
complete -c wt-du -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-du -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-du -s v -l verbose -d 'Say more on standard error'
complete -c wt-du -s h -l help -d 'Print help'
complete -c wt-du -s V -l version -d 'Print version'
