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
class HostPlantTest {
  private static final List<Path> TABLES =
      List.of(
          Path.of("/proc/sysvipc/shm"), Path.of("/proc/sysvipc/msg"), Path.of("/proc/sysvipc/sem"));

  private final ProbeProgram program = ProbeProgram.find().orElseThrow();
  @TempDir Path folder;

  private static Probe named(String name) {
    return Probes.all().stream().filter(probe -> probe.name().equals(name)).findFirst().get();
  }

  private static long rows(Scene scene) throws IOException {
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
    Scene scene;
    try (HostPlant plant = HostPlant.make(program)) {
      scene = plant.scene();
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
    Scene scene;
    try (HostPlant plant = HostPlant.make(program)) {
      scene = plant.scene();
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
      try (HostPlant plant = HostPlant.make(program)) {
        Answer answer = plant.control(named(name), plant.scene());
        assertThat(answer.gotThrough()).as(name + " " + answer).isTrue();
      }
    }
  }

  @Test
  void isNotFoundUnderAnotherId() throws IOException, InterruptedException {
    try (HostPlant plant = HostPlant.make(program)) {
      Scene other = new Scene("another", plant.scene().facts());
      for (String name :
          List.of(
              "secretInTmpIsNotRead",
              "commandLinesOfTheHostAreNotRead",
              "loopbackOfTheHostIsNotReachedByTcp",
              "sharedMemoryOfTheHostIsNotRead")) {
        Answer answer = plant.control(named(name), other);
        assertThat(answer.gotThrough()).as(name + " " + answer).isFalse();
      }
    }
  }

  /** A program that boasts in its own copy of /etc has not reached the host's. */
  @Test
  void witnessBelievesTheHost() throws IOException {
    Scene scene = new Scene("x", Map.of("pid", List.of("self")));
    Path file = Files.writeString(folder.resolve("file"), "as it was");
    List<String> words = List.of("write", file.toString());

    Witness unmoved = new Witness(named("fileInTmpIsNotChanged"), scene, words, folder);
    assertThat(unmoved.hear(Answer.got("wrote it"), true).gotThrough()).isFalse();

    Witness alarmed = new Witness(named("fileInTmpIsNotChanged"), scene, words, folder);
    Files.writeString(file, "changed");
    assertThat(alarmed.hear(Answer.refused("EACCES"), true).gotThrough()).isTrue();

    Witness survived = new Witness(named("agentIsNotKilled"), scene, words, folder);
    assertThat(survived.hear(Answer.refused("EPERM"), true).gotThrough()).isFalse();
    assertThat(survived.hear(Answer.refused("EPERM"), false).gotThrough()).isTrue();
  }

  @Test
  void missingFactsAreSaid() {
    Scene scene = new Scene("x", Map.of());
    assertThat(Optional.of(scene).map(Scene::mark)).contains("isola-planted-x");
    assertThatThrownBy(() -> scene.one("vsock"))
        .isInstanceOf(Scene.NotPlantedException.class)
        .hasMessageContaining("vsock");
  }
}
