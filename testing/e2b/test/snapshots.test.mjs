import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { Sandbox } from 'e2b'

const made = []
const keep = (sandbox) => {
  made.push(sandbox)
  return sandbox
}
afterEach(() => Promise.all(made.splice(0).map((one) => one.kill())))

test('a snapshot is a template', async () => {
  const sandbox = keep(await Sandbox.create())
  await sandbox.files.write('work/result.txt', 'forty-two')
  const snapshot = await sandbox.createSnapshot()
  assert.ok(snapshot.snapshotId)
  await sandbox.files.write('work/result.txt', 'changed')
  const other = keep(await Sandbox.create(snapshot.snapshotId))
  assert.notEqual(other.sandboxId, sandbox.sandboxId)
  assert.equal(await other.files.read('work/result.txt'), 'forty-two')
  assert.equal((await other.commands.run('stat -c %U work/result.txt')).stdout, 'user\n')
  const pages = Sandbox.listSnapshots({ sandboxId: sandbox.sandboxId })
  assert.deepEqual((await pages.nextItems()).map((one) => one.snapshotId), [snapshot.snapshotId])
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)
  await assert.rejects(Sandbox.create(snapshot.snapshotId), /not found/)
})

test('a snapshot with a name', async () => {
  const sandbox = keep(await Sandbox.create())
  await sandbox.files.write('a.txt', 'one')
  const snapshot = await sandbox.createSnapshot({ name: 'with-a-name' })
  assert.deepEqual(snapshot.names, ['with-a-name'])
  const other = keep(await Sandbox.create('with-a-name'))
  assert.equal(await other.files.read('a.txt'), 'one')
  await Sandbox.deleteSnapshot(snapshot.snapshotId)
})

test('forks are independent', async () => {
  const sandbox = keep(await Sandbox.create({ metadata: { of: 'fork' } }))
  await sandbox.files.write('state.txt', 'before')
  const forks = await sandbox.fork({ count: 3 })
  assert.equal(forks.length, 3)
  const sandboxes = forks.map((one) => keep(one.sandbox ?? one))
  assert.equal(new Set(sandboxes.map((one) => one.sandboxId)).size, 3)
  for (const [number, one] of sandboxes.entries()) {
    assert.equal(await one.files.read('state.txt'), 'before')
    await one.files.write('state.txt', `fork ${number}`)
  }
  assert.equal(await sandbox.files.read('state.txt'), 'before')
  assert.equal(await sandboxes[1].files.read('state.txt'), 'fork 1')
  assert.deepEqual((await sandboxes[0].getInfo()).metadata, { of: 'fork' })
})
