// A worker that all tabs share. Browsers open at most six connections to a server; without it a few
// tabs, each with its own streams, would use them up, and every other request would wait.

const KEPT = 600;
const streams = new Map();

function open(address, types, replayed) {
  const source = new EventSource(address);
  const stream = { source, ports: new Set(), open: false, past: [] };
  const send = (message) => stream.ports.forEach((port) => port.postMessage({ address, ...message }));
  for (const type of types) {
    source.addEventListener(type, (event) => {
      if (event.data === undefined) return;
      const message = { type, data: event.data, id: event.lastEventId };
      if (replayed) {
        if (type === replayed) stream.past = [];
        stream.past.push(message);
        if (stream.past.length > KEPT) stream.past.splice(1, 1);
      }
      send(message);
    });
  }
  source.addEventListener('open', () => { stream.open = true; send({ type: '(open)' }); });
  source.addEventListener('error', (event) => {
    if (event.data !== undefined) return;
    stream.open = false;
    const refused = source.readyState === EventSource.CLOSED;
    send({ type: refused ? '(refused)' : '(lost)' });
    if (refused) streams.delete(address);
  });
  streams.set(address, stream);
  return stream;
}

function leave(port, address) {
  const stream = streams.get(address);
  if (stream?.ports.delete(port) && stream.ports.size === 0) {
    stream.source.close();
    streams.delete(address);
  }
}

function handle(port, { operation, address, types, replayed }) {
  if (operation === 'follow') {
    const stream = streams.get(address) ?? open(address, types, replayed);
    stream.ports.add(port);
    if (stream.open) port.postMessage({ address, type: '(open)' });
    stream.past.forEach((message) => port.postMessage({ address, ...message }));
  } else if (operation === 'leave') {
    leave(port, address);
  } else if (operation === 'leave all') {
    for (const one of [...streams.keys()]) leave(port, one);
  }
}

self.addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => handle(port, data);
});
