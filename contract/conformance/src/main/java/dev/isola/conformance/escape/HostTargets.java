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
  private static final int LONGEST_ANSWER = 1 << 16;
  private static final int PATIENCE_SECONDS = 10;

  /** An environment variable of the target process; its value is the mark. */
  public static final String VARIABLE = "ISOLA_PLANTED";

  private final TemporaryFolder scratch;
  private final TargetFiles files;

  /**
   * The JDK opens sockets without close-on-exec, so a provider that forks this JVM carelessly
   * passes this one on.
   */
  private final ServerSocketChannel descriptor;

  private final Process holder;
  private final ProbeContext scene;

  private HostTargets(
      ProbeProgram program, TemporaryFolder scratch, TargetFiles files, ProbeContext empty)
      throws IOException {
    this.scratch = scratch;
    this.files = files;
    program.install(scratch.path());
    Files.writeString(scratch.path().resolve(empty.mark() + "-file"), empty.mark() + "\n");
    this.descriptor = ServerSocketChannel.open();
    descriptor.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    this.holder = hold(empty);
    this.scene = new ProbeContext(empty.id(), facts(holder));
  }

  public static HostTargets create(ProbeProgram program) throws IOException {
    ProbeContext empty = new ProbeContext(UUID.randomUUID().toString(), Map.of());
    TemporaryFolder scratch = TemporaryFolder.create("isola-plant-");
    TargetFiles files = new TargetFiles(empty.mark());
    try {
      return new HostTargets(program, scratch, files, empty);
    } catch (IOException e) {
      files.close();
      scratch.close();
      throw e;
    }
  }

  private Process hold(ProbeContext empty) throws IOException {
    List<String> words =
        new ArrayList<>(List.of(scratch.path().resolve(ProbeProgram.NAME).toString()));
    words.addAll(TargetFacts.arguments(empty, scratch.path().toString()));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put(VARIABLE, empty.mark());
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    return builder.start();
  }

  private Map<String, List<String>> facts(Process planted) throws IOException {
    Map<String, List<String>> facts = new HashMap<>(HostFacts.collect());
    facts.putAll(files.facts());
    facts.putAll(TargetFacts.parse(untilReady(planted.getInputStream())));
    facts.put("scratch", List.of(scratch.path().toString()));
    return facts;
  }

  /** The program prints everything at once, and exits by itself if it cannot. */
  private static String untilReady(InputStream in) throws IOException {
    StringBuilder said = new StringBuilder();
    byte[] buffer = new byte[4096];
    while (!said.toString().endsWith(TargetFacts.READY)) {
      int n = in.read(buffer);
      if (n < 0 || said.length() > LONGEST_ANSWER) {
        throw new IOException("the targets could not be created: " + said);
      }
      said.append(new String(buffer, 0, n, UTF_8));
    }
    return said.toString();
  }

  public ProbeContext context() {
    return scene;
  }

  /**
   * Runs a probe on the bare host as a plain process of this user, and returns the result. If the
   * probe fails, it runs again as root of a user namespace, because root of a sandbox may be able
   * to do what this user cannot.
   */
  public ProbeResult control(EscapeProbe probe, ProbeContext with)
      throws IOException, InterruptedException {
    List<String> words = probe.control().arguments(with);
    EscapeVerifier witness = new EscapeVerifier(probe, scene, words, scratch.path());
    ProbeResult plain = witness.verify(ProbeProgram.run(scratch.path(), words), true);
    if (plain.escaped() || probe.evidence() != EscapeProbe.Evidence.OUTPUT) {
      return plain;
    }
    List<String> again = new ArrayList<>(List.of("within"));
    again.addAll(words);
    ProbeResult within = ProbeProgram.run(scratch.path(), again);
    return within.escaped() ? within : plain;
  }

  @Override
  public void close() {
    try (scratch;
        files;
        descriptor) {
      holder.getOutputStream().close();
      if (!holder.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
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
