import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, test } from 'node:test'
import { NotFoundError, Sandbox } from 'e2b'

const made = []
const create = async (...args) => {
  const sandbox = await Sandbox.create(...args)
  made.push(sandbox)
  return sandbox
}
afterEach(() => Promise.all(made.splice(0).map((one) => one.kill())))

test('getInfo describes the sandbox', async () => {
  const sandbox = await create({ timeoutMs: 120_000, metadata: { who: 'ada', what: 'a b&c=d' } })
  const info = await sandbox.getInfo()
  assert.equal(info.sandboxId, sandbox.sandboxId)
  assert.match(sandbox.sandboxId, /^[a-z0-9]+$/)
  assert.equal(info.templateId, 'base')
  assert.deepEqual(info.metadata, { who: 'ada', what: 'a b&c=d' })
  assert.equal(info.state, 'running')
  const life = info.endAt.getTime() - info.startedAt.getTime()
  assert.ok(Math.abs(life - 120_000) < 5_000, `it lives ${life} ms`)
  assert.ok(info.cpuCount >= 1)
  assert.ok(info.memoryMB >= 128)
  assert.equal(await sandbox.isRunning(), true)
})

test('the timeout can be changed, and connecting does not shorten it', async () => {
  const sandbox = await create({ timeoutMs: 60_000 })
  await sandbox.setTimeout(600_000)
  const end = (await sandbox.getInfo()).endAt.getTime()
  assert.ok(end - Date.now() > 550_000)
  await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 10_000 })
  assert.equal((await sandbox.getInfo()).endAt.getTime(), end)
  await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 900_000 })
  assert.ok((await sandbox.getInfo()).endAt.getTime() > end)
})

test('the sandbox ends at its timeout', async () => {
  const sandbox = await create({ timeoutMs: 1_000 })
  const end = Date.now() + 20_000
  while ((await sandbox.isRunning()) && Date.now() < end) await new Promise((go) => setTimeout(go, 200))
  assert.equal(await sandbox.isRunning(), false)
  await assert.rejects(sandbox.commands.run('true'))
})

test('the second kill returns false', async () => {
  const sandbox = await create()
  assert.equal(await sandbox.kill(), true)
  assert.equal(await sandbox.kill(), false)
  assert.equal(await sandbox.isRunning(), false)
  await assert.rejects(Sandbox.connect(sandbox.sandboxId), NotFoundError)
  await assert.rejects(Sandbox.getInfo(sandbox.sandboxId), NotFoundError)
})

test('running commands fail when the sandbox is killed', async () => {
  const sandbox = await create()
  const command = await sandbox.commands.run('sleep 100', { background: true })
  const waiting = assert.rejects(command.wait())
  await sandbox.kill()
  await waiting
})

test('list filters by metadata and pages, newest first', async () => {
  const run = randomUUID()
  const ids = []
  for (const number of ['1', '2', '3']) {
    ids.push((await create({ metadata: { run, number, odd: 'é %2F+' } })).sandboxId)
  }
  const pages = Sandbox.list({ query: { metadata: { run } }, limit: 2 })
  assert.equal(pages.hasNext, true)
  const first = await pages.nextItems()
  assert.deepEqual(first.map((one) => one.sandboxId), [ids[2], ids[1]])
  assert.equal(pages.hasNext, true)
  const second = await pages.nextItems()
  assert.deepEqual(second.map((one) => one.sandboxId), [ids[0]])
  assert.equal(pages.hasNext, false)
  const one = await Sandbox.list({ query: { metadata: { run, number: '2', odd: 'é %2F+' } } }).nextItems()
  assert.deepEqual(one.map((each) => each.sandboxId), [ids[1]])
  assert.deepEqual(await Sandbox.list({ query: { metadata: { run, number: '9' } } }).nextItems(), [])
})

test('pause keeps processes, and connecting resumes the sandbox', async () => {
  const run = randomUUID()
  const sandbox = await create({ timeoutMs: 60_000, metadata: { run } })
  await sandbox.files.write('kept.txt', 'kept')
  const command = await sandbox.commands.run('sleep 1000', { background: true })
  assert.equal(await sandbox.pause(), true)
  assert.equal(await sandbox.pause(), false)
  assert.equal(await sandbox.isRunning(), false)
  const listed = await Sandbox.list({ query: { state: ['paused'], metadata: { run } } }).nextItems()
  assert.deepEqual(listed.map((one) => [one.sandboxId, one.state]), [[sandbox.sandboxId, 'paused']])
  assert.deepEqual(await Sandbox.list({ query: { state: ['running'], metadata: { run } } }).nextItems(), [])
  const again = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 60_000 })
  assert.equal(await again.isRunning(), true)
  assert.equal(await again.files.read('kept.txt'), 'kept')
  const running = await again.commands.list()
  assert.ok(running.some((one) => one.pid === command.pid), 'the command goes on')
  assert.equal(await again.commands.kill(command.pid), true)
  const left = (await again.getInfo()).endAt.getTime() - Date.now()
  assert.ok(left > 30_000 && left <= 61_000, `its time begins anew: ${left} ms`)
})

test('metrics are reported', async () => {
  const sandbox = await create()
  const [metric] = await sandbox.getMetrics()
  assert.ok(metric.memTotal > 0)
  assert.ok(metric.memUsed >= 0 && metric.memUsed <= metric.memTotal)
  assert.ok(metric.cpuCount >= 1)
  assert.ok(metric.cpuUsedPct >= 0)
  assert.ok(metric.diskTotal > 0)
  assert.ok(Math.abs(metric.timestamp.getTime() - Date.now()) < 60_000)
})

test('invalid requests are rejected with a message', async () => {
  await assert.rejects(Sandbox.create('no-such-template'), /no-such-template/)
  await assert.rejects(Sandbox.create({ apiKey: 'e2b_00000000' }), { name: 'AuthenticationError' })
  await assert.rejects(Sandbox.connect('nosuchsandbox'), NotFoundError)
  assert.equal(await Sandbox.kill('nosuchsandbox'), false)
  await assert.rejects(Sandbox.create({ network: { allowOut: ['1.1.1.1'], denyOut: ['0.0.0.0/0'] } }), /allowOut/)
  await assert.rejects(Sandbox.create({ metadata: { 'isola.mine': 'x' } }), /isola\./)
})

test('the network is reported as it was given, and an update that changes nothing succeeds', async () => {
  const sandbox = await create({ allowInternetAccess: false, network: { denyOut: ['1.1.1.1', '8.8.8.0/24'] } })
  const { network, allowInternetAccess } = await sandbox.getInfo()
  assert.deepEqual(network.denyOut, ['1.1.1.1', '8.8.8.0/24'])
  assert.equal(network.allowPublicTraffic, true)
  assert.equal(allowInternetAccess, false)
  await sandbox.updateNetwork({ denyOut: ['1.1.1.1', '8.8.8.0/24'], allowInternetAccess: false })
  await sandbox.updateNetwork({ denyOut: ['0.0.0.0/0'] })
  await assert.rejects(sandbox.updateNetwork({ allowOut: ['1.1.1.1'], denyOut: ['0.0.0.0/0'] }), /allowOut/)
})

test('startedAfter includes the time itself', async () => {
  const sandbox = await create({ metadata: { started: 'exactly' } })
  const { startedAt } = await sandbox.getInfo()
  const query = { metadata: { started: 'exactly' }, startedAfter: startedAt }
  const page = await Sandbox.list({ query }).nextItems()
  assert.deepEqual(page.map((one) => one.sandboxId), [sandbox.sandboxId])
})

test('a port is reachable over HTTP unless it is private', async () => {
  const serve = async (sandbox) => {
    await sandbox.files.write('site/index.html', 'hello from inside')
    await sandbox.commands.run('python3 -m http.server 8000 --directory site', { background: true })
    return (headers) =>
      fetch(`${process.env.E2B_SANDBOX_URL}/index.html`, {
        headers: { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '8000', ...headers },
      })
  }
  const text = async (get, headers) => {
    const end = Date.now() + 20_000
    let answer = await get(headers)
    while (answer.status === 502 && Date.now() < end) {
      await new Promise((go) => setTimeout(go, 50))
      answer = await get(headers)
    }
    return answer.text()
  }
  const open = await create()
  assert.match(open.getHost(8000), new RegExp(`^8000-${open.sandboxId}\\.`))
  assert.equal(await text(await serve(open)), 'hello from inside')
  const closed = await create({ network: { allowPublicTraffic: false } })
  const get = await serve(closed)
  const token = { 'e2b-traffic-access-token': closed.trafficAccessToken }
  assert.equal(await text(get, token), 'hello from inside')
  const refused = await get()
  assert.ok(refused.status === 401 || refused.status === 403, `${refused.status}`)
})
