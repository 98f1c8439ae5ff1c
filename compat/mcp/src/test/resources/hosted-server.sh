# A server of the Model Context Protocol for tests, which misbehaves on request.
# Every message that it reads is appended to the file "input".
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$1" "$2"; }
echo "started $$" >&2
echo "$$" >>pids
while IFS= read -r line; do
  printf '%s\n' "$line" >>input
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"hostile","version":"1"},"instructions":"Be careful."}}\n' "$id"
    ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}\n' "$id"
    ;;
  *'"method":"resources/subscribe"'* | *'"method":"resources/unsubscribe"'* | *'"method":"ping"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
    ;;
  *'"method":"tools/call"'*)
    tool=$(printf '%s' "$line" | sed 's/.*"name":"\([a-z-]*\)".*/\1/')
    text=$(printf '%s' "$line" | sed -n 's/.*"text":"\([^"]*\)".*/\1/p')
    case $tool in
    echo) answer "$id" "$text" ;;
    pid) answer "$id" "$$" ;;
    slow) (sleep 1; answer "$id" "$text") & ;;
    never) ;;
    exit) exit 3 ;;
    finish) exit 0 ;;
    deaf) sleep 600 ;;
    junk)
      echo 'not JSON'
      echo '[]'
      echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
      echo '{"jsonrpc":"2.0","id":"1","result":{}}'
      echo '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}'
      echo '{"jsonrpc":"2.0","id":-1e300,"result":{}}'
      echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'
      echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
      head -c 100000 /dev/zero | tr '\0' '['; echo
      printf '\377\376\n'
      answer "$id" done
      ;;
    huge)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
      head -c 6000000 /dev/zero | tr '\0' a
      echo '"}]}}'
      ;;
    large)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
      head -c 2000000 /dev/zero | tr '\0' a
      echo '"}]}}'
      ;;
    flood)
      yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"spam"}}' | head -n 2000
      yes '{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}}' | head -n 300
      answer "$id" done
      ;;
    endless) head -c 20000000 /dev/zero | tr '\0' a; echo; answer "$id" done ;;
    noise) head -c 3000000 /dev/zero | tr '\0' 'n' >&2; answer "$id" done ;;
    log)
      echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"secret of one client"}}'
      (sleep 0.5; answer "$id" done) &
      ;;
    progress)
      token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\([0-9]*\).*/\1/p')
      printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2}}\n' "${token:-0}"
      answer "$id" done
      ;;
    changed)
      echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"secret":"of one client"}}'
      printf '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%s"}}\n' "$text"
      answer "$id" done
      ;;
    ask)
      echo '{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}'
      while IFS= read -r reply; do
        printf '%s\n' "$reply" >>input
        case $reply in
        *'"id":"q1"'*) answer "$id" "$(printf '%s' "$reply" | tr '"' "'")"; break ;;
        *'"method":"tools/call"'*) held=$reply ;;
        esac
      done
      ;;
    esac
    ;;
  esac
done
