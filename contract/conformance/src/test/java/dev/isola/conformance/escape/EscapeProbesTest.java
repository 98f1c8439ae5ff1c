package dev.isola.conformance.escape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.Isolation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The table of probes and the probe program agree. */
class EscapeProbesTest {
  @Test
  void namesAreUniqueIdentifiers() {
    List<String> names = EscapeProbes.all().stream().map(EscapeProbe::name).toList();
    assertThat(names).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(100);
    assertThat(names).allMatch(name -> name.matches("[a-z][A-Za-z0-9]{7,60}"), "is a method's");
    assertThat(EscapeProbes.all()).extracting(EscapeProbe::target).noneMatch(String::isBlank);
  }

  @Test
  void everyTopicHasAProbe() {
    assertThat(EscapeProbes.all())
        .extracting(EscapeProbe::topic)
        .contains(EscapeProbe.Topic.values());
  }

  @Test
  void rootFloorIsNotBelowTheFloor() {
    assertThat(EscapeProbes.all()).allMatch(probe -> probe.rootFloor().isAtLeast(probe.floor()));
    assertThat(EscapeProbes.all())
        .filteredOn(probe -> probe.floor() == Isolation.PROCESS)
        .as("what even a plain process is kept from")
        .hasSizeGreaterThanOrEqualTo(8);
  }

  @Test
  void programImplementsEveryProbe() throws IOException {
    ProbeProgram program = ProbeProgram.find().orElseThrow();
    List<String> known;
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-probes-")) {
      program.install(scratch.path());
      Process process =
          new ProcessBuilder(scratch.path().resolve(ProbeProgram.NAME).toString(), "--list")
              .start();
      known =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .toList();
    }
    try (HostTargets targets = HostTargets.create(program)) {
      List<String> one = List.of("1");
      ProbeContext context = targets.context();
      for (String fact : FACTS) {
        context = context.facts().containsKey(fact) ? context : context.with(fact, one);
      }
      ProbeContext full = context;
      List<String> used =
          EscapeProbes.all().stream()
              .flatMap(probe -> Stream.of(probe.control(), probe.attempt()))
              .map(script -> script.arguments(full).getFirst())
              .distinct()
              .toList();
      assertThat(known).containsAll(used);
      assertThat(used).as("what the program knows is used").containsAll(withoutEcho(known));
    }
  }

  /** Facts that may be missing on a machine or in a sandbox. */
  private static final List<String> FACTS =
      List.of(
          "installation",
          "sockets",
          "vsock",
          "passwords",
          "keys",
          "environment",
          "disks",
          "home",
          "run",
          "shm",
          "tmp",
          "var-tmp",
          "handle",
          "handle-type",
          "key",
          "ipc",
          "semaphore",
          "posix-memory",
          "posix-queue",
          "tcp6",
          "terminal",
          "descriptor");

  private static List<String> withoutEcho(List<String> known) {
    return known.stream().filter(name -> !name.equals("echo")).toList();
  }

  /** The attempts are harmless because the kernel checks the permission first. */
  @Test
  void privilegedCallsAreRefusedWithoutCapabilities() throws IOException, InterruptedException {
    ProbeProgram program = ProbeProgram.find().orElseThrow();
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-probes-")) {
      program.install(scratch.path());
      for (String gate : GATES) {
        ProbeResult open = ProbeProgram.run(scratch.path(), List.of(gate.split(" ")));
        Assumptions.assumeTrue(
            open.escaped(), "NOT RUN: " + gate + " is closed to this user anyway: " + open);
        ProbeResult closed = withoutCapabilities(scratch, gate);
        assertThat(closed.verdict()).as(gate + " " + closed).isEqualTo(ProbeResult.Verdict.REFUSED);
      }
    }
  }

  private static final List<String> GATES =
      List.of(
          "reboot",
          "clock",
          "host-name",
          "swap",
          "accounting",
          "namespaces",
          "mount folder",
          "mount-calls",
          "unmount folder",
          "remount folder",
          "pivot-root",
          "links",
          "priority");

  private static ProbeResult withoutCapabilities(TemporaryFolder scratch, String gate)
      throws IOException, InterruptedException {
    try {
      Process process =
          new ProcessBuilder(
                  Stream.concat(
                          Stream.of(
                              "setpriv",
                              "--bounding-set",
                              "-all",
                              "--inh-caps",
                              "-all",
                              scratch.path().resolve(ProbeProgram.NAME).toString()),
                          Stream.of(gate.split(" ")))
                      .toList())
              .directory(scratch.path().toFile())
              .start();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return ProbeResult.parse(printed).orElseThrow(() -> new AssertionError("it said: " + printed));
    } catch (IOException e) {
      Assumptions.abort("NOT RUN: there is no setpriv: " + e.getMessage());
      throw e;
    }
  }
}
