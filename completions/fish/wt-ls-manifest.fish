complete -c wt-ls-manifest -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-ls-manifest -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-ls-manifest -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-ls-manifest -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-ls-manifest -l end -d 'Close the list with an empty item'
complete -c wt-ls-manifest -l records -d 'Write records of all kinds'
complete -c wt-ls-manifest -l gaps -d 'List what was there and was not captured'
complete -c wt-ls-manifest -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-ls-manifest -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-ls-manifest -s v -l verbose -d 'Say more on standard error'
complete -c wt-ls-manifest -s h -l help -d 'Print help'
complete -c wt-ls-manifest -s V -l version -d 'Print version'
