package dev.isola.conformance.escape;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.TemporaryFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Targets of every kind on the host for probes to attack: files, a process, servers, shared memory,
 * queues, a key, and an open descriptor of this JVM. Closing removes all of them; the program that
 * holds them also ends when this JVM does.
 */
public final class HostTargets implements AutoCloseable {
  private static final int MAX_OUTPUT = 1 << 16;
  private static final int TIMEOUT_SECONDS = 10;

  /** An environment variable of the target process; its value is the mark. */
  public static final String VARIABLE = "ISOLA_PLANTED";

  private final TemporaryFolder folder;
  private final TargetFiles files;

  /**
   * The JDK opens sockets without close-on-exec, so a provider that forks this JVM carelessly
   * passes this one on.
   */
  private final ServerSocketChannel descriptor;

  private final Process holder;
  private final ProbeContext context;

  private HostTargets(
      ProbeProgram program, TemporaryFolder folder, TargetFiles files, ProbeContext empty)
      throws IOException {
    this.folder = folder;
    this.files = files;
    program.install(folder.path());
    Files.writeString(folder.path().resolve(empty.mark() + "-file"), empty.mark() + "\n");
    this.descriptor = ServerSocketChannel.open();
    descriptor.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    this.holder = hold(empty);
    this.context = new ProbeContext(empty.id(), facts(holder));
  }

  public static HostTargets create(ProbeProgram program) throws IOException {
    ProbeContext empty = new ProbeContext(UUID.randomUUID().toString(), Map.of());
    TemporaryFolder folder = TemporaryFolder.create("isola-targets-");
    TargetFiles files = new TargetFiles(empty.mark());
    try {
      return new HostTargets(program, folder, files, empty);
    } catch (IOException e) {
      files.close();
      folder.close();
      throw e;
    }
  }

  private Process hold(ProbeContext empty) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of(folder.path().resolve(ProbeProgram.NAME).toString()));
    arguments.addAll(TargetFacts.arguments(empty, folder.path().toString()));
    ProcessBuilder builder = new ProcessBuilder(arguments);
    builder.environment().put(VARIABLE, empty.mark());
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    return builder.start();
  }

  private Map<String, List<String>> facts(Process process) throws IOException {
    Map<String, List<String>> facts = new HashMap<>(HostFacts.collect());
    facts.putAll(files.facts());
    facts.putAll(TargetFacts.parse(untilReady(process.getInputStream())));
    facts.put("scratch", List.of(folder.path().toString()));
    return facts;
  }

  /** The program prints everything at once, and exits by itself if it cannot. */
  private static String untilReady(InputStream in) throws IOException {
    StringBuilder output = new StringBuilder();
    byte[] buffer = new byte[4096];
    while (!output.toString().endsWith(TargetFacts.READY)) {
      int n = in.read(buffer);
      if (n < 0 || output.length() > MAX_OUTPUT) {
        throw new IOException("the targets could not be created: " + output);
      }
      output.append(new String(buffer, 0, n, UTF_8));
    }
    return output.toString();
  }

  public ProbeContext context() {
    return context;
  }

  /**
   * Runs a probe on the bare host as a plain process of this user, and returns the result. If the
   * probe fails, it runs again as root of a user namespace, because root of a sandbox may be able
   * to do what this user cannot.
   */
  public ProbeResult control(EscapeProbe probe, ProbeContext with)
      throws IOException, InterruptedException {
    List<String> arguments = probe.control().arguments(with);
    EscapeVerifier verifier = new EscapeVerifier(probe, context, arguments, folder.path());
    ProbeResult plain = verifier.verify(ProbeProgram.run(folder.path(), arguments), true);
    if (plain.escaped() || probe.evidence() != EscapeProbe.Evidence.OUTPUT) {
      return plain;
    }
    List<String> again = new ArrayList<>(List.of("within"));
    again.addAll(arguments);
    ProbeResult within = ProbeProgram.run(folder.path(), again);
    return within.escaped() ? within : plain;
  }

  @Override
  public void close() {
    try (folder;
        files;
        descriptor) {
      holder.getOutputStream().close();
      if (!holder.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("isola-probe did not end; its targets may be left");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      holder.destroy();
    }
  }
}
