// What all versions of the SDK since 1.0 have. Uses nothing newer.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import { test } from 'node:test'
import { CommandExitError, Sandbox } from 'e2b'
import { until, useSandbox } from './sandbox.mjs'

const run = randomUUID()
const sandbox = useSandbox({ metadata: { run }, envs: { GREETING: 'hello' } })

// Returns all sandboxes: version 1 returns a list, later versions return pages.
const list = async () => {
  const found = await Sandbox.list()
  if (Array.isArray(found)) return found
  const all = []
  while (found.hasNext) all.push(...(await found.nextItems()))
  return all
}

// Requests a host of the sandbox, through the URL of the server if the program has one.
const get = (host) =>
  new Promise((resolve, reject) => {
    const url = process.env.E2B_SANDBOX_URL
    const read = async (answer) => {
      let text = ''
      for await (const part of answer) text += part
      resolve([answer.statusCode, text])
    }
    const request = url ? http.get(url, { headers: { Host: host } }, read) : https.get(`https://${host}`, read)
    request.on('error', reject)
  })

test('a command returns its output', async () => {
  const parts = []
  const result = await sandbox().commands.run('echo $GREETING $MORE; echo bad >&2', {
    envs: { MORE: 'you' },
    onStdout: (text) => {
      parts.push(text)
    },
  })
  assert.deepEqual([result.exitCode, result.stdout, result.stderr], [0, 'hello you\n', 'bad\n'])
  assert.equal(parts.join(''), 'hello you\n')
})

test('a nonzero exit code is an error', async () => {
  await assert.rejects(sandbox().commands.run('echo out; exit 3'), (error) => {
    assert.ok(error instanceof CommandExitError)
    assert.deepEqual([error.exitCode, error.stdout], [3, 'out\n'])
    return true
  })
})

test('files are written, read and listed', async () => {
  const { files } = sandbox()
  await files.write('notes/one.txt', 'žluť\n')
  await files.write('/home/user/notes/two.txt', 'two')
  assert.equal(await files.read('notes/one.txt'), 'žluť\n')
  assert.equal((await sandbox().commands.run('cat notes/two.txt')).stdout, 'two')
  const entries = await files.list('notes')
  assert.deepEqual(entries.map((one) => [one.name, one.type, one.path]), [
    ['one.txt', 'file', '/home/user/notes/one.txt'],
    ['two.txt', 'file', '/home/user/notes/two.txt'],
  ])
  assert.equal(await files.exists('notes/three.txt'), false)
})

test('folders are made, files renamed and removed', async () => {
  const { files } = sandbox()
  assert.equal(await files.makeDir('made/here'), true)
  await files.write('made/before.txt', 'same')
  await files.rename('made/before.txt', 'made/here/after.txt')
  assert.equal(await files.read('made/here/after.txt'), 'same')
  await files.remove('made')
  assert.equal(await files.exists('made'), false)
})

test('running commands are listed and killed', async () => {
  const { commands } = sandbox()
  const running = await commands.run('sleep 1000', { background: true })
  const pids = async () => (await commands.list()).map((one) => one.pid)
  assert.ok((await pids()).includes(running.pid))
  assert.equal(await commands.kill(running.pid), true)
  await assert.rejects(running.wait())
  assert.ok(!(await pids()).includes(running.pid))
})

test('getHost leads to a port of the sandbox', async () => {
  const host = sandbox().getHost(8000)
  assert.ok(host.startsWith(`8000-${sandbox().sandboxId}.`), host)
  await sandbox().files.write('site/index.html', 'from the sandbox')
  const server = await sandbox().commands.run('python3 -m http.server 8000 -d site', { background: true })
  await until(async () => (await get(host))[0] === 200, 'the port is open')
  assert.deepEqual(await get(host), [200, 'from the sandbox'])
  assert.equal(await server.kill(), true)
})

test('the list contains the sandbox', async () => {
  const found = (await list()).filter((one) => one.metadata?.run === run)
  assert.deepEqual(found.map((one) => one.sandboxId), [sandbox().sandboxId])
})

test('a sandbox ends at the timeout that was set last', async () => {
  const short = await Sandbox.create({ timeoutMs: 300_000 })
  try {
    assert.equal(await short.isRunning(), true)
    await short.setTimeout(1_000)
    await until(async () => !(await short.isRunning()), 'the sandbox has ended', 20_000)
  } finally {
    await short.kill()
  }
})

test('a killed sandbox is gone', async () => {
  const killed = await Sandbox.create({ timeoutMs: 300_000 })
  await killed.kill()
  assert.equal(await killed.isRunning(), false)
  assert.equal(await Sandbox.kill(killed.sandboxId), false)
  await assert.rejects(killed.commands.run('true'))
  assert.deepEqual((await list()).filter((one) => one.sandboxId === killed.sandboxId), [])
})
