import assert from 'node:assert/strict'
import http from 'node:http'
import { afterEach, test } from 'node:test'
import { Sandbox } from 'e2b'
import { until } from './sandbox.mjs'

const made = []
const create = async (options) => {
  const sandbox = await Sandbox.create({ timeoutMs: 120_000, ...options })
  made.push(sandbox)
  return sandbox
}
afterEach(() => Promise.all(made.splice(0).map((one) => one.kill())))

// Requests https://getHost(port) without name resolution.
const get = (host, headers = {}) =>
  new Promise((resolve, reject) => {
    const request = http.get(process.env.E2B_SANDBOX_URL, { headers: { ...headers, Host: host } }, async (answer) => {
      let text = ''
      for await (const part of answer) text += part
      resolve({ status: answer.statusCode, type: answer.headers['content-type'], text })
    })
    request.on('error', reject)
  })
const json = async (host, headers) => {
  const { status, type, text } = await get(host, headers)
  assert.match(type, /^application\/json/)
  return [status, JSON.parse(text)]
}
const notFound = (id) => [502, { message: 'The sandbox was not found', sandboxId: id, code: 502 }]

// Answers every request with the Host header that it receives.
const serve = async (sandbox, headers) => {
  await sandbox.files.write(
    'server.py',
    `from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())
HTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
`
  )
  await sandbox.commands.run('python3 server.py', { background: true })
  await until(async () => (await get(sandbox.getHost(8000), headers)).status === 200, 'the service listens')
}

test('a killed or unknown sandbox is not found', async () => {
  const sandbox = await create()
  const host = sandbox.getHost(8000)
  await sandbox.kill()
  assert.deepEqual(await json(host), notFound(sandbox.sandboxId))
  const unknown = 'x'.repeat(20)
  assert.deepEqual(await json(host.replace(sandbox.sandboxId, unknown)), notFound(unknown))
})

test('a closed port is reported with its number', async () => {
  const sandbox = await create()
  assert.deepEqual(await json(sandbox.getHost(8001)), [
    502,
    { message: 'The sandbox is running but port is not open', sandboxId: sandbox.sandboxId, port: 8001, code: 502 },
  ])
})

test('a private port needs the traffic token', async () => {
  const sandbox = await create({ network: { allowPublicTraffic: false } })
  const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken }
  await serve(sandbox, token)
  for (const headers of [{}, { 'e2b-traffic-access-token': 'wrong' }]) {
    const [status, body] = await json(sandbox.getHost(8000), headers)
    assert.deepEqual([status, body.code, body.sandboxId], [403, 403, sandbox.sandboxId])
  }
  assert.equal((await get(sandbox.getHost(8000), token)).status, 200)
})

test('a paused sandbox is not found, unless the request wakes it', async () => {
  const sandbox = await create()
  await serve(sandbox)
  await sandbox.pause()
  assert.deepEqual(await json(sandbox.getHost(8000)), notFound(sandbox.sandboxId))
  const waking = await create({ lifecycle: { onTimeout: 'pause', autoResume: true } })
  await serve(waking)
  await waking.pause()
  assert.equal((await get(waking.getHost(8000))).status, 200)
  assert.equal((await waking.getInfo()).state, 'running')
})

test('a service sees the masked host', async () => {
  const sandbox = await create({ network: { maskRequestHost: 'app-${PORT}.example.com' } })
  await serve(sandbox)
  assert.equal((await get(sandbox.getHost(8000))).text, 'app-8000.example.com')
  const plain = await create()
  await serve(plain)
  assert.equal((await get(plain.getHost(8000))).text, plain.getHost(8000))
  await assert.rejects(create({ network: { maskRequestHost: 'a\r\nX-Evil: 1' } }), /maskRequestHost/)
})
