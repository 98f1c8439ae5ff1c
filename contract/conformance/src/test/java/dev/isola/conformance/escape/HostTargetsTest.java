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

/** What is planted is there, can be attacked, and goes away without a trace. */
class HostTargetsTest {
  private static final List<Path> TABLES =
      List.of(
          Path.of("/proc/sysvipc/shm"), Path.of("/proc/sysvipc/msg"), Path.of("/proc/sysvipc/sem"));

  private final ProbeProgram program = ProbeProgram.find().orElseThrow();
  @TempDir Path folder;

  private static EscapeProbe named(String name) {
    return EscapeProbes.all().stream().filter(probe -> probe.name().equals(name)).findFirst().get();
  }

  private static long rows(ProbeContext scene) throws IOException {
    long rows = 0;
    for (Path table : TABLES) {
      rows +=
          Files.readAllLines(table).stream()
              .filter(line -> line.strip().startsWith(scene.one("ipc") + " "))
              .count();
    }
    return rows;
  }

  @Test
  void leavesNothing() throws IOException {
    ProbeContext scene;
    try (HostTargets plant = HostTargets.create(program)) {
      scene = plant.context();
      assertThat(Path.of("/proc", scene.one("pid"))).exists();
      assertThat(Path.of(scene.one("tmp"))).content().contains(scene.mark());
      assertThat(Path.of(scene.one("scratch"))).isDirectory();
      assertThat(rows(scene)).isEqualTo(3);
    }
    assertThat(Path.of("/proc", scene.one("pid"))).doesNotExist();
    assertThat(Path.of(scene.one("tmp"))).doesNotExist();
    assertThat(Path.of(scene.one("scratch"))).doesNotExist();
    assertThat(Path.of("/dev/shm", scene.mark())).doesNotExist();
    assertThat(rows(scene)).isZero();
  }

  @Test
  void leavesNothingOfWhatAControlMade() throws IOException, InterruptedException {
    ProbeContext scene;
    try (HostTargets plant = HostTargets.create(program)) {
      scene = plant.context();
      plant.control(named("nothingIsMadeInEtc"), scene);
      plant.control(named("processOfTheHostIsNotKilled"), scene);
    }
    assertThat(Path.of(scene.one("etc"))).doesNotExist();
    assertThat(rows(scene)).isZero();
  }

  @Test
  void isAttackedWithSuccess() throws IOException, InterruptedException {
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
      try (HostTargets plant = HostTargets.create(program)) {
        ProbeResult answer = plant.control(named(name), plant.context());
        assertThat(answer.escaped()).as(name + " " + answer).isTrue();
      }
    }
  }

  @Test
  void isNotFoundUnderAnotherId() throws IOException, InterruptedException {
    try (HostTargets plant = HostTargets.create(program)) {
      ProbeContext other = new ProbeContext("another", plant.context().facts());
      for (String name :
          List.of(
              "secretInTmpIsNotRead",
              "commandLinesOfTheHostAreNotRead",
              "loopbackOfTheHostIsNotReachedByTcp",
              "sharedMemoryOfTheHostIsNotRead")) {
        ProbeResult answer = plant.control(named(name), other);
        assertThat(answer.escaped()).as(name + " " + answer).isFalse();
      }
    }
  }

  /** A program that boasts in its own copy of /etc has not reached the host's. */
  @Test
  void witnessBelievesTheHost() throws IOException {
    ProbeContext scene = new ProbeContext("x", Map.of("pid", List.of("self")));
    Path file = Files.writeString(folder.resolve("file"), "as it was");
    List<String> words = List.of("write", file.toString());

    EscapeVerifier unmoved =
        new EscapeVerifier(named("fileInTmpIsNotChanged"), scene, words, folder);
    assertThat(unmoved.verify(ProbeResult.got("wrote it"), true).escaped()).isFalse();

    EscapeVerifier alarmed =
        new EscapeVerifier(named("fileInTmpIsNotChanged"), scene, words, folder);
    Files.writeString(file, "changed");
    assertThat(alarmed.verify(ProbeResult.refused("EACCES"), true).escaped()).isTrue();

    EscapeVerifier survived = new EscapeVerifier(named("agentIsNotKilled"), scene, words, folder);
    assertThat(survived.verify(ProbeResult.refused("EPERM"), true).escaped()).isFalse();
    assertThat(survived.verify(ProbeResult.refused("EPERM"), false).escaped()).isTrue();
  }

  @Test
  void missingFactsAreSaid() {
    ProbeContext scene = new ProbeContext("x", Map.of());
    assertThat(Optional.of(scene).map(ProbeContext::mark)).contains("isola-planted-x");
    assertThatThrownBy(() -> scene.one("vsock"))
        .isInstanceOf(ProbeContext.TargetMissingException.class)
        .hasMessageContaining("vsock");
  }
}
