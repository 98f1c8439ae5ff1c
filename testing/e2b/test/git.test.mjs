import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useSandbox } from './sandbox.mjs'

const sandbox = useSandbox()
const git = () => sandbox().git

test('a repository is created, pushed and cloned', async () => {
  await git().configureUser('Ada', 'ada@example.com')
  assert.equal(await git().getConfig('user.name', { scope: 'global' }), 'Ada')
  await git().init('origin.git', { bare: true })
  await git().init('work', { initialBranch: 'main' })
  await sandbox().files.write('work/readme.txt', 'hello\n')

  const before = await git().status('work')
  assert.equal(before.currentBranch, 'main')
  assert.deepEqual(before.fileStatus.map((one) => [one.name, one.staged]), [['readme.txt', false]])
  await git().add('work')
  assert.equal((await git().status('work')).fileStatus[0].staged, true)
  await git().commit('work', 'The first')
  assert.deepEqual((await git().status('work')).fileStatus, [])

  await git().remoteAdd('work', 'origin', '/home/user/origin.git')
  assert.equal(await git().remoteGet('work', 'origin'), '/home/user/origin.git')
  await git().createBranch('work', 'topic')
  await sandbox().files.write('work/more.txt', 'more\n')
  await git().add('work', { files: ['more.txt'] })
  await git().commit('work', 'More', { authorName: 'Bob', authorEmail: 'bob@example.com' })
  await git().push('work', { remote: 'origin', branch: 'topic' })

  await git().clone('/home/user/origin.git', { path: 'copy', branch: 'topic' })
  assert.equal(await sandbox().files.read('copy/more.txt'), 'more\n')
  const log = await sandbox().commands.run('git -C copy log --format="%an: %s"')
  assert.equal(log.stdout, 'Bob: More\nAda: The first\n')
})

test('branches are created and deleted', async () => {
  const { branches, currentBranch } = await git().branches('work')
  assert.equal(currentBranch, 'topic')
  assert.deepEqual(branches.toSorted(), ['main', 'topic'])
  await git().checkoutBranch('work', 'main')
  await git().deleteBranch('work', 'topic', { force: true })
  assert.deepEqual((await git().branches('work')).branches, ['main'])
})

test('a change is reverted', async () => {
  await sandbox().files.write('work/readme.txt', 'changed\n')
  assert.equal((await git().status('work')).fileStatus[0].name, 'readme.txt')
  await git().restore('work', { paths: ['readme.txt'] })
  assert.equal(await sandbox().files.read('work/readme.txt'), 'hello\n')
})
