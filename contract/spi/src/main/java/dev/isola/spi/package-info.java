/**
 * The contract between the engine and its providers. Read this page before you add a backend; then
 * implement {@link dev.isola.spi.provider.ProviderFactory}, {@link dev.isola.spi.provider.Provider}
 * and {@link dev.isola.spi.capability.Sandbox}, and run the conformance kit until it passes.
 *
 * <p>This package holds the ids and value types that all others use. The others build on it in this
 * order: errors, commands and files, the spec, the sandbox with its capabilities, and the provider.
 *
 * <h2>Terms</h2>
 *
 * <ul>
 *   <li>A <em>sandbox</em> is an isolated environment that runs commands and holds files.
 *   <li>A <em>provider</em> is a backend that creates sandboxes: plain processes, bubblewrap, a
 *       container engine, gVisor, a cloud.
 *   <li>A <em>spec</em> describes the sandbox to create: its image, environment, mounts, limits and
 *       network.
 *   <li>A <em>command</em> describes a program to run. An <em>execution</em> is a command that is
 *       running or has ended.
 *   <li>A <em>capability</em> is a feature that a provider may or may not have, such as pausing,
 *       snapshots or terminals.
 *   <li>An <em>inventory item</em> is a resource that a provider found at its backend and
 *       recognized as its own.
 *   <li>The <em>floor</em> is the weakest {@link dev.isola.spi.Isolation} that a client, or the
 *       installation, accepts.
 * </ul>
 *
 * <h2>Lifecycle</h2>
 *
 * <p>{@link dev.isola.spi.provider.Provider#create} turns a {@link dev.isola.spi.spec.SandboxSpec}
 * into a running sandbox. The sandbox may be paused and resumed if the provider declares that
 * capability. It ends when {@link dev.isola.spi.provider.Provider#destroy} is called or when its
 * deadline passes. Destroy is idempotent, and several callers may race for it: a client, the expiry
 * timer, recovery after a crash. {@link dev.isola.spi.SandboxState} defines the states and the
 * transitions between them.
 *
 * <p>A sandbox does not depend on the process that created it. The provider labels every backend
 * resource with the {@link dev.isola.spi.InstanceId} of the installation and the {@link
 * dev.isola.spi.SandboxId}. If the server crashes, commands keep running, and a bounded journal
 * retains their output. After the restart, {@link dev.isola.spi.provider.Provider#inventory} lists
 * the resources that exist, and {@link dev.isola.spi.provider.Provider#attach} reconnects to each
 * sandbox.
 *
 * <h2>Declarations</h2>
 *
 * <p>A provider declares in its {@link dev.isola.spi.provider.ProviderInfo} what it can do on this
 * machine, now. Three rules follow. A provider does everything that it declares. It rejects
 * everything else with {@link dev.isola.spi.error.Unsupported} and names the missing feature. It
 * never substitutes something weaker.
 *
 * <h2>Errors</h2>
 *
 * <p>Every failure is a {@link dev.isola.spi.error.SandboxException} with a stable code, a message
 * that says what failed, and a remedy. The code decides whether the engine may retry the call or
 * try another provider. A command that exits with a nonzero code or exceeds its timeout is not a
 * failure; its {@link dev.isola.spi.exec.ExecResult} says how it ended.
 *
 * <h2>Threads, time and memory</h2>
 *
 * <p>Calls block, and the engine makes them on virtual threads. Interrupting the thread ends the
 * call with {@code CANCELLED}. No call waits forever for a silent peer.
 *
 * <p>Treat everything that comes out of a sandbox as hostile. Output and files arrive in bounded
 * chunks with back-pressure, so that no sandbox can exhaust the memory of the server.
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
 *     // Closing the handle leaves the command running.
 *   }
 *   sandbox.as(PortDialing.class).map(ports -> ports.dial(8000));
 * } finally {
 *   provider.destroy(spec.id(), DestroyOptions.NORMAL);
 * }
 * }</pre>
 */
@NullMarked
package dev.isola.spi;

import org.jspecify.annotations.NullMarked;
