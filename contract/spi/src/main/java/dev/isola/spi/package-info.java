/**
 * The contract between the engine and its providers. This package has the ids and values that all
 * others use; above it are, in this order, errors, commands and files, the spec, the sandbox with
 * its capabilities, and providers.
 *
 * <h2>Words</h2>
 *
 * <p>A <em>sandbox</em> is one isolated environment. A <em>provider</em> is a backend that makes
 * sandboxes: plain processes, bubblewrap, gVisor, a cloud. A <em>spec</em> is what was asked of a
 * sandbox, a <em>command</em> what to run in it, an <em>execution</em> a command that runs. A
 * <em>capability</em> is something a sandbox may be able to do beyond the required. A
 * <em>sighting</em> is something of ours that a provider found at its backend. The <em>floor</em>
 * is the least {@link dev.isola.spi.Isolation} a caller accepts.
 *
 * <h2>Life</h2>
 *
 * <p>A sandbox is made by {@link dev.isola.spi.provider.Provider#create} from a {@link
 * dev.isola.spi.spec.SandboxSpec} and is running when that returns. It may be paused and resumed
 * where the provider can. It ends by {@link dev.isola.spi.provider.Provider#destroy}, which may be
 * called by several parties at once and as often as they like, or by its own deadline. {@link
 * dev.isola.spi.SandboxState} has the states and the only ways between them.
 *
 * <p>A sandbox does not belong to the process that made it. The provider marks what it makes with
 * the {@link dev.isola.spi.InstanceId} and the {@link dev.isola.spi.SandboxId}; after a crash of
 * the server {@link dev.isola.spi.provider.Provider#inventory} lists what is there and {@link
 * dev.isola.spi.provider.Provider#attach} connects to it again. Commands go on meanwhile, and their
 * output waits in a bounded journal.
 *
 * <h2>Honesty</h2>
 *
 * <p>What a provider declares in its {@link dev.isola.spi.provider.ProviderInfo} it does, on this
 * machine, now. What it does not declare it refuses with {@link dev.isola.spi.error.Unsupported},
 * naming it. It never does something weaker instead. Everything that goes wrong is a {@link
 * dev.isola.spi.error.SandboxException}; a command that fails is not something that goes wrong, but
 * a result.
 *
 * <h2>Time and memory</h2>
 *
 * <p>Calls block; run them on virtual threads. What comes from a sandbox is hostile: it arrives in
 * bounded pieces, with back-pressure, and no call waits for ever on a peer that is silent.
 * Interrupting a thread ends its call with {@code CANCELLED}.
 *
 * <h2>Example</h2>
 *
 * <pre>{@code
 * SandboxSpec spec = SandboxSpec.builder(SandboxId.random(random)).deadline(Duration.ofMinutes(10)).build();
 * Sandbox sandbox = provider.create(spec);
 * try {
 *   sandbox.files().writeText("hello.py", "print('hello')", UTF_8);
 *   ExecResult result = sandbox.run(Command.argv("python3", "hello.py").withTimeout(Duration.ofSeconds(5)));
 *   System.out.println(result.exitCode() + " " + result.stdout().text());
 *
 *   try (Execution server = sandbox.start(Command.shell("python3 -m http.server 8000"))) {
 *     // closing the handle leaves it running
 *   }
 *   sandbox.as(PortDialing.class).map(ports -> ports.dial(8000));
 * } finally {
 *   provider.destroy(spec.id(), Destroy.NORMAL);
 * }
 * }</pre>
 */
@NullMarked
package dev.isola.spi;

import org.jspecify.annotations.NullMarked;
