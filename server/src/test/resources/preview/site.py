"""A page with a part, a stream and a WebSocket, with nothing but Python's own library."""
import base64, hashlib, http.server, sys, time

PAGE = b"""<!doctype html><title>site</title><body>page
<script src="part.js"></script>
<script>
const say = words => document.body.append(' ' + words);
const api = new URLSearchParams(location.search).get('api');
say('origin:' + (window.origin === 'null' ? 'none' : 'own'));
try { say('cookie:' + document.cookie.includes('isola')); } catch (e) { say('cookie:refused'); }
if (api) {
  fetch(api).then(r => r.text()).then(() => say('api:read'), () => say('api:refused'));
}
const socket = new WebSocket(location.href.split('?')[0].replace(/^http/, 'ws').replace(/[^/]*$/, 'ws'));
socket.onopen = () => socket.send('ping');
socket.onmessage = e => { say('socket:' + e.data); socket.close(); };
socket.onerror = () => say('socket:refused');
const events = new EventSource('events');
let count = 0;
events.onmessage = e => { if (++count == 3) { say('events:3'); events.close(); } };
events.onerror = () => { if (count < 3) { say('events:refused'); events.close(); } };
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        path = self.path.split('?')[0]
        if path == '/ws':
            self.socket()
        elif path == '/events':
            self.events()
        elif path == '/part.js':
            self.whole(b"document.body.append(' part')", 'text/javascript')
        else:
            self.whole(PAGE, 'text/html')

    def whole(self, body, kind):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Connection', 'close')
        self.end_headers()
        for i in range(3):
            self.wfile.write(b'data: %d\n\n' % i)
            self.wfile.flush()
            time.sleep(0.1)
        self.close_connection = True

    def socket(self):
        key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        self.send_response(101)
        self.send_header('Upgrade', 'websocket')
        self.send_header('Connection', 'Upgrade')
        self.send_header('Sec-WebSocket-Accept', base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        head = self.rfile.read(2)
        mask = self.rfile.read(4)
        text = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
        answer = text + b' pong'
        self.wfile.write(bytes([0x81, len(answer)]) + answer)
        self.wfile.flush()
        self.rfile.read(1)
        self.close_connection = True

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
