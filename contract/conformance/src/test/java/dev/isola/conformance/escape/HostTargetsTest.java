package dev.isola.conformance.escape;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Targets exist, can be attacked, and are removed completely. */
class HostTargetsTest {
  private static final List<Path> TABLES =
      List.of(
          Path.of("/proc/sysvipc/shm"), Path.of("/proc/sysvipc/msg"), Path.of("/proc/sysvipc/sem"));

  private final ProbeProgram program = ProbeProgram.find().orElseThrow();
  @TempDir Path folder;

  private static EscapeProbe named(String name) {
    return EscapeProbes.all().stream().filter(probe -> probe.name().equals(name)).findFirst().get();
  }

  private static long rows(ProbeContext context) throws IOException {
    long rows = 0;
    for (Path table : TABLES) {
      rows +=
          Files.readAllLines(table).stream()
              .filter(line -> line.strip().startsWith(context.one("ipc") + " "))
              .count();
    }
    return rows;
  }

  @Test
  void removesAllTargets() throws IOException {
    ProbeContext context;
    try (HostTargets targets = HostTargets.create(program)) {
      context = targets.context();
      assertThat(Path.of("/proc", context.one("pid"))).exists();
      assertThat(Path.of(context.one("tmp"))).content().contains(context.mark());
      assertThat(Path.of(context.one("scratch"))).isDirectory();
      assertThat(rows(context)).isEqualTo(3);
    }
    assertThat(Path.of("/proc", context.one("pid"))).doesNotExist();
    assertThat(Path.of(context.one("tmp"))).doesNotExist();
    assertThat(Path.of(context.one("scratch"))).doesNotExist();
    assertThat(Path.of("/dev/shm", context.mark())).doesNotExist();
    assertThat(rows(context)).isZero();
  }

  @Test
  void removesFilesCreatedByControls() throws IOException, InterruptedException {
    ProbeContext context;
    try (HostTargets targets = HostTargets.create(program)) {
      context = targets.context();
      targets.control(named("nothingIsMadeInEtc"), context);
      targets.control(named("processOfTheHostIsNotKilled"), context);
    }
    assertThat(Path.of(context.one("etc"))).doesNotExist();
    assertThat(rows(context)).isZero();
  }

  @Test
  void probesReachTheTargets() throws IOException, InterruptedException {
    for (String name :
        List.of(
            "secretInTmpIsNotRead",
            "commandLinesOfTheHostAreNotRead",
            "processOfTheHostIsNotKilled",
            "loopbackOfTheHostIsNotReachedByTcp",
            "loopbackOfTheHostIsNotReachedByUdp",
            "abstractSocketsOfTheHostAreNotReached",
            "socketFilesOfTheHostAreNotReached",
            "sharedMemoryOfTheHostIsNotRead",
            "fileInTmpIsNotChanged",
            "terminalsOfTheHostAreNotRead",
            "agentDoesNotAnswerWithoutTheSecret")) {
      try (HostTargets targets = HostTargets.create(program)) {
        ProbeResult result = targets.control(named(name), targets.context());
        assertThat(result.escaped()).as(name + " " + result).isTrue();
      }
    }
  }

  @Test
  void probesWithAnotherIdFindNothing() throws IOException, InterruptedException {
    try (HostTargets targets = HostTargets.create(program)) {
      ProbeContext other = new ProbeContext("another", targets.context().facts());
      for (String name :
          List.of(
              "secretInTmpIsNotRead",
              "commandLinesOfTheHostAreNotRead",
              "loopbackOfTheHostIsNotReachedByTcp",
              "sharedMemoryOfTheHostIsNotRead")) {
        ProbeResult result = targets.control(named(name), other);
        assertThat(result.escaped()).as(name + " " + result).isFalse();
      }
    }
  }

  /** A program that reports success in a private copy of /etc has not reached that of the host. */
  @Test
  void verifierTrustsTheHostOverTheProgram() throws IOException {
    ProbeContext context = new ProbeContext("x", Map.of("pid", List.of("self")));
    Path file = Files.writeString(folder.resolve("file"), "as it was");
    List<String> words = List.of("write", file.toString());

    EscapeVerifier unmoved =
        new EscapeVerifier(named("fileInTmpIsNotChanged"), context, words, folder);
    assertThat(unmoved.verify(ProbeResult.got("wrote it"), true).escaped()).isFalse();

    EscapeVerifier alarmed =
        new EscapeVerifier(named("fileInTmpIsNotChanged"), context, words, folder);
    Files.writeString(file, "changed");
    assertThat(alarmed.verify(ProbeResult.refused("EACCES"), true).escaped()).isTrue();

    EscapeVerifier survived = new EscapeVerifier(named("agentIsNotKilled"), context, words, folder);
    assertThat(survived.verify(ProbeResult.refused("EPERM"), true).escaped()).isFalse();
    assertThat(survived.verify(ProbeResult.refused("EPERM"), false).escaped()).isTrue();
  }

  @Test
  void missingFactIsNamed() {
    ProbeContext context = new ProbeContext("x", Map.of());
    assertThat(Optional.of(context).map(ProbeContext::mark)).contains("isola-planted-x");
    assertThatThrownBy(() -> context.one("vsock"))
        .isInstanceOf(ProbeContext.TargetMissingException.class)
        .hasMessageContaining("vsock");
  }
}
