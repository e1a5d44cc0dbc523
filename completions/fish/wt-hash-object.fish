complete -c wt-hash-object -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-hash-object -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-hash-object -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-hash-object -l max-new-bytes -d 'Stop when there is more new content than this' -r
complete -c wt-hash-object -s z -d 'Items end in NUL and names are raw bytes, on input and output'
complete -c wt-hash-object -s w -d 'Store what is hashed'
complete -c wt-hash-object -l stdin -d 'Hash standard input'
complete -c wt-hash-object -l stdin-paths -d 'Hash the files whose paths, relative to the workspace, stand on standard input'
complete -c wt-hash-object -l require-end -d 'With --stdin-paths, a list without its end mark is an error'
complete -c wt-hash-object -l stdin-records -d 'Fill in the records that stand on standard input'
complete -c wt-hash-object -l allow-unterminated -d 'Take a list of records without version line and end mark'
complete -c wt-hash-object -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-hash-object -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-hash-object -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-hash-object -s v -l verbose -d 'Say more on standard error'
complete -c wt-hash-object -s h -l help -d 'Print help'
complete -c wt-hash-object -s V -l version -d 'Print version'
