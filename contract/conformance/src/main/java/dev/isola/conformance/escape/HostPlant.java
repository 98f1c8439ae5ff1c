package dev.isola.conformance.escape;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Scratch;
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
 * Something of each kind on the host for probes to attack: files, a process, servers, shared
 * memory, queues, a key, and an open descriptor of this JVM. Closing takes all of it away; the
 * program that holds it also ends when this JVM does.
 */
public final class HostPlant implements AutoCloseable {
  private static final int LONGEST_ANSWER = 1 << 16;
  private static final int PATIENCE_SECONDS = 10;

  /** What the planted process has in its environment, with the mark as its value. */
  public static final String VARIABLE = "ISOLA_PLANTED";

  private final Scratch scratch;
  private final PlantedFiles files;

  /**
   * The JDK opens sockets without closing them on exec: whoever forks this JVM bare hands it on.
   */
  private final ServerSocketChannel descriptor;

  private final Process holder;
  private final Scene scene;

  private HostPlant(ProbeProgram program, Scratch scratch, PlantedFiles files, Scene empty)
      throws IOException {
    this.scratch = scratch;
    this.files = files;
    program.install(scratch.path());
    Files.writeString(scratch.path().resolve(empty.mark() + "-file"), empty.mark() + "\n");
    this.descriptor = ServerSocketChannel.open();
    descriptor.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    this.holder = hold(empty);
    this.scene = new Scene(empty.id(), facts(holder));
  }

  public static HostPlant make(ProbeProgram program) throws IOException {
    Scene empty = new Scene(UUID.randomUUID().toString(), Map.of());
    Scratch scratch = Scratch.make("isola-plant-");
    PlantedFiles files = new PlantedFiles(empty.mark());
    try {
      return new HostPlant(program, scratch, files, empty);
    } catch (IOException e) {
      files.close();
      scratch.close();
      throw e;
    }
  }

  private Process hold(Scene empty) throws IOException {
    List<String> words =
        new ArrayList<>(List.of(scratch.path().resolve(ProbeProgram.NAME).toString()));
    words.addAll(PlantFacts.command(empty, scratch.path().toString()));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put(VARIABLE, empty.mark());
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    return builder.start();
  }

  private Map<String, List<String>> facts(Process planted) throws IOException {
    Map<String, List<String>> facts = new HashMap<>(HostFacts.collect());
    facts.putAll(files.facts());
    facts.putAll(PlantFacts.parse(untilReady(planted.getInputStream())));
    facts.put("scratch", List.of(scratch.path().toString()));
    return facts;
  }

  /** The program says all it has to say at once, and ends by itself when it cannot. */
  private static String untilReady(InputStream in) throws IOException {
    StringBuilder said = new StringBuilder();
    byte[] buffer = new byte[4096];
    while (!said.toString().endsWith(PlantFacts.READY)) {
      int n = in.read(buffer);
      if (n < 0 || said.length() > LONGEST_ANSWER) {
        throw new IOException("nothing could be planted on the host: " + said);
      }
      said.append(new String(buffer, 0, n, UTF_8));
    }
    return said.toString();
  }

  public Scene scene() {
    return scene;
  }

  /**
   * Runs a probe on the bare host, as a plain process of this user, and returns how it went. Where
   * it does not get through, root of a user namespace tries again: what this user may not do, root
   * of a sandbox perhaps may.
   */
  public Answer control(Probe probe, Scene with) throws IOException, InterruptedException {
    List<String> words = probe.control().words(with);
    Witness witness = new Witness(probe, scene, words, scratch.path());
    Answer plain = witness.hear(ProbeProgram.run(scratch.path(), words), true);
    if (plain.gotThrough() || probe.proof() != Probe.Proof.WORD) {
      return plain;
    }
    List<String> again = new ArrayList<>(List.of("within"));
    again.addAll(words);
    Answer within = ProbeProgram.run(scratch.path(), again);
    return within.gotThrough() ? within : plain;
  }

  @Override
  public void close() {
    try (scratch;
        files;
        descriptor) {
      holder.getOutputStream().close();
      if (!holder.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("what was planted does not go away");
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
