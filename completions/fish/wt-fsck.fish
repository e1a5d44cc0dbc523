complete -c wt-fsck -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-fsck -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-fsck -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-fsck -l repair-from -d 'Store damaged and missing objects again from the files below this directory' -r -F
complete -c wt-fsck -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c wt-fsck -l quick -d 'Do not read objects, only look at their sizes'
complete -c wt-fsck -l quarantine -d 'Put damaged manifests and pins aside and keep what they may name'
complete -c wt-fsck -l rebuild-index -d 'Make index and pins again from manifests and journal'
complete -c wt-fsck -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-fsck -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-fsck -s v -l verbose -d 'Say more on standard error'
complete -c wt-fsck -s h -l help -d 'Print help'
complete -c wt-fsck -s V -l version -d 'Print version'
