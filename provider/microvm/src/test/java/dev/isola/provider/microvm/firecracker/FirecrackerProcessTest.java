package dev.isola.provider.microvm.firecracker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.AgentChannel;
import dev.isola.link.InitListener;
import dev.isola.link.local.ProcessFolders;
import dev.isola.provider.microvm.ScratchDisks;
import dev.isola.provider.microvm.firecracker.FirecrackerMachine.Hardware;
import dev.isola.provider.microvm.firecracker.StubFaults.Kind;
import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Firecracker processes, jailed and not, with a stub as the program. */
class FirecrackerProcessTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Hardware HARDWARE = new Hardware(1, 128, Optional.empty());
  private static final int USER = 786_432;

  /** Short enough for the sockets in a jail. */
  private final TemporaryFolder scratch = TemporaryFolder.create("fc-");

  private final StubProgram stub;

  FirecrackerProcessTest() throws IOException {
    stub = StubProgram.install(Files.createDirectory(scratch.path().resolve("bin")));
    for (String name : List.of("kernel", "initramfs", "disk")) {
      Files.writeString(scratch.path().resolve(name), name);
    }
  }

  @AfterEach
  void remove() {
    scratch.close();
  }

  private FirecrackerCommand direct(String id) {
    return FirecrackerCommand.direct(stub.firecracker(), id, scratch.path().resolve(id));
  }

  private FirecrackerCommand jailed(String id) {
    assumeTrue(SandboxUserIds.rangesAvailable(), "NOT RUN: files are given to users by root only");
    return FirecrackerCommand.jailed(
        stub.firecracker(),
        stub.jailer(),
        id,
        scratch.path().resolve("j-" + id),
        USER,
        Optional.empty());
  }

  /** Provides the files of a machine. */
  private void furnish(FirecrackerFolder folder) throws IOException {
    folder.create();
    furnishLinks(folder);
    Files.writeString(folder.file("scratch"), "scratch");
    folder.giveToUser(folder.file("scratch"));
  }

  private void furnishLinks(FirecrackerFolder folder) throws IOException {
    for (String name : List.of("kernel", "initramfs", "disk")) {
      folder.link(scratch.path().resolve(name), name);
    }
  }

  private void bootsAndContinues(FirecrackerCommand template, FirecrackerCommand clone)
      throws IOException {
    FirecrackerFolder source = template.folder();
    furnish(source);
    try (FirecrackerProcess process = FirecrackerProcess.start(template, TIMEOUT);
        InitListener listener =
            InitListener.bind(source.agentSocket(), source::giveToUser, () -> true)) {
      source.protect();
      FirecrackerMachine machine = new FirecrackerMachine(new FirecrackerApi(source.api()));
      machine.boot(HARDWARE);
      try (AgentChannel _ = listener.awaitWaiting(TIMEOUT)) {
        machine.save(TIMEOUT);
      }
      assertThat(process.isAlive()).isTrue();
    }
    FirecrackerFolder target = clone.folder();
    furnish(target);
    target.link(source.file("state"), "state");
    target.link(source.file("memory"), "memory");
    FirecrackerFolder.giveToServer(target.file("state"));
    FirecrackerFolder.giveToServer(target.file("memory"));
    try (FirecrackerProcess _ = FirecrackerProcess.start(clone, TIMEOUT)) {
      target.protect();
      new FirecrackerMachine(new FirecrackerApi(target.api())).restore(HARDWARE, TIMEOUT);
      try (InitListener listener =
          InitListener.bind(target.agentSocket(), target::giveToUser, () -> true)) {
        listener.boot(new byte[] {0, 0, 0, 2, 7, 7}, TIMEOUT);
      }
      assertThat(target.agentSocket()).doesNotExist();
      try (InitListener _ =
          InitListener.bind(target.agentSocket(), target::giveToUser, () -> true)) {
        await().until(() -> stub.lines().contains("guest dialed again"));
      }
    }
    assertThat(stub.lines()).contains("guest received its record");
    assertThat(stub.lines()).noneMatch(line -> line.contains("refused"));
  }

  @Test
  void machineContinuesFromATemplateAndGetsItsRecord() throws IOException {
    bootsAndContinues(direct("template"), direct("clone"));
  }

  @Test
  void jailedMachineContinuesFromAJailedTemplate() throws IOException {
    bootsAndContinues(jailed("template"), jailed("clone"));
    Path root = jailed("clone").folder().path();
    assertThat(root).isEqualTo(scratch.path().resolve("j-clone/firecracker/clone/root"));
    assertThat(Files.getAttribute(root.resolve("disk"), "unix:uid"))
        .as("shared with other machines")
        .isEqualTo(0);
    assertThat(Files.getPosixFilePermissions(root.resolve("disk")))
        .as("no user may write to what machines share")
        .hasSize(3);
    assertThat(Files.getAttribute(root.resolve("scratch"), "unix:uid")).isEqualTo(USER);
  }

  /** What a Firecracker could do that its guest has taken over. */
  @Test
  void jailedProcessCannotReplaceFilesOfTheServer() throws IOException {
    FirecrackerCommand command = jailed("box");
    furnish(command.folder());
    try (FirecrackerProcess _ = FirecrackerProcess.start(command, TIMEOUT)) {
      assertThat(asUser(command, "mv disk other && mv other disk")).as("planted fault").isTrue();
      command.folder().protect();
      assertThat(asUser(command, "mv disk other")).isFalse();
      assertThat(asUser(command, "rm -f disk")).isFalse();
      assertThat(asUser(command, "echo x >> disk")).isFalse();
      assertThat(asUser(command, "echo x >> scratch && echo y > own && rm own")).isTrue();
    }
    command.folder().clear();
    try (var left = Files.list(command.folder().path())) {
      assertThat(left).containsExactly(command.folder().file("scratch"));
    }
    furnishLinks(command.folder());
    FirecrackerProcess.start(command, TIMEOUT).close(); // a second process in the same jail
  }

  private static boolean asUser(FirecrackerCommand command, String script) throws IOException {
    Process process =
        new ProcessBuilder(
                "setpriv",
                "--reuid=" + USER,
                "--regid=" + USER,
                "--clear-groups",
                "sh",
                "-c",
                script)
            .directory(command.folder().path().toFile())
            .redirectErrorStream(true)
            .start();
    process.getInputStream().readAllBytes();
    try {
      return process.waitFor() == 0;
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void jailedMachineCannotUseAFileOfAnotherUser() throws IOException {
    FirecrackerCommand command = jailed("box");
    furnish(command.folder());
    Files.setAttribute(command.folder().file("scratch"), "unix:uid", 0);
    try (FirecrackerProcess _ = FirecrackerProcess.start(command, TIMEOUT)) {
      FirecrackerMachine machine =
          new FirecrackerMachine(new FirecrackerApi(command.folder().api()));
      assertThatThrownBy(() -> machine.boot(HARDWARE)).hasMessageContaining("Permission denied");
    }
  }

  @Test
  void processThatCannotLoadItsSnapshotEnds() throws IOException {
    FirecrackerCommand command = direct("box");
    furnish(command.folder());
    try (FirecrackerProcess process = FirecrackerProcess.start(command, TIMEOUT)) {
      FirecrackerMachine machine =
          new FirecrackerMachine(new FirecrackerApi(command.folder().api()));
      assertThatThrownBy(() -> machine.restore(HARDWARE, TIMEOUT))
          .isInstanceOf(FirecrackerRefusedException.class);
      await().until(() -> !process.isAlive());
    }
  }

  @Test
  void machineOfAKilledServerIsEnded() throws IOException {
    Path folders = scratch.path().resolve("run");
    Path abandoned = folders.resolve("1-1-ab"); // no process with that start time exists
    FirecrackerCommand command =
        FirecrackerCommand.direct(stub.firecracker(), "box", abandoned.resolve("j"));
    furnish(command.folder());
    Path used = new ProcessFolders(folders).create();
    try (FirecrackerProcess process = FirecrackerProcess.start(command, TIMEOUT)) {
      new TemporaryMachines(
              UniqueResources.instanceId("fc"), folders, new ScratchDisks(scratch.path()))
          .removeAbandoned();
      await().until(() -> !process.isAlive());
    }
    assertThat(abandoned).doesNotExist();
    assertThat(used).exists();
  }

  @Test
  void processThatExitsInsteadOfListeningSaysWhy() throws IOException {
    StubProgram.write(stub.firecracker(), "#!/bin/sh\necho 'no such device'\nexit 3\n");
    FirecrackerCommand command = direct("box");
    command.folder().create();
    assertThatThrownBy(() -> FirecrackerProcess.start(command, TIMEOUT))
        .hasMessage(
            "Firecracker did not start: it exited with code 3, after printing: no such device");
  }

  @Test
  void processThatDoesNotListenIsKilled() throws IOException {
    Path pid = scratch.path().resolve("pid");
    StubProgram.write(
        stub.firecracker(), "#!/bin/sh\necho $$ >%s\nexec sleep 600\n".formatted(pid));
    FirecrackerCommand command = direct("box");
    command.folder().create();
    assertThatThrownBy(() -> FirecrackerProcess.start(command, Duration.ofMillis(500)))
        .hasMessage("Firecracker did not start within 500 ms");
    assertThat(ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())))
        .satisfiesAnyOf(
            handle -> assertThat(handle).isEmpty(),
            handle -> assertThat(handle.orElseThrow().isAlive()).isFalse());
  }

  @Test
  void floodOfOutputIsBounded() throws IOException {
    StubProgram.write(
        stub.firecracker(), "#!/bin/sh\nhead -c 20000000 /dev/zero | tr '\\0' x\nexit 4\n");
    FirecrackerCommand command = direct("box");
    command.folder().create();
    assertThatThrownBy(() -> FirecrackerProcess.start(command, TIMEOUT))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(1200).contains("code 4"));
  }

  @Test
  void initThatDoesNotDialIsGivenUp() throws IOException {
    FirecrackerCommand command = direct("box");
    furnish(command.folder());
    stub.fault("PUT /actions", Kind.ANSWER, "HTTP/1.1 204 X\r\n\r\n"); // a guest that hangs
    try (FirecrackerProcess _ = FirecrackerProcess.start(command, TIMEOUT);
        InitListener listener =
            InitListener.bind(
                command.folder().agentSocket(), command.folder()::giveToUser, () -> true)) {
      new FirecrackerMachine(new FirecrackerApi(command.folder().api())).boot(HARDWARE);
      assertThatThrownBy(() -> listener.awaitWaiting(Duration.ofMillis(300)))
          .hasMessageContaining("did not ask for its boot record")
          .hasMessageEndingWith("within 300 ms");
    }
  }

  @Test
  void folderRefusesWhatItCannotProvide() throws IOException {
    FirecrackerFolder deep =
        new FirecrackerFolder(scratch.path().resolve("x".repeat(90)), Optional.empty());
    assertThatThrownBy(deep::create)
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("shorter path");
    FirecrackerFolder folder = direct("box").folder();
    furnish(folder);
    assertThatThrownBy(() -> folder.link(scratch.path().resolve("disk"), "disk"))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThatThrownBy(() -> folder.link(Path.of("/proc/version"), "other"))
        .hasMessageContaining("must be on the same file system");
  }

  @Test
  void commandLinesAreThoseOfTheDocumentation() {
    assertThat(direct("box").words())
        .containsExactly(stub.firecracker().toString(), "--id", "box", "--api-sock", "api");
    FirecrackerCommand jailed =
        FirecrackerCommand.jailed(
            Path.of("/opt/firecracker"),
            Path.of("/opt/jailer"),
            "box-1",
            Path.of("/data/box-1/jail"),
            USER,
            Optional.of(Path.of("/run/netns/box")));
    assertThat(String.join(" ", jailed.words()))
        .isEqualTo(
            "/opt/jailer --id box-1 --exec-file /opt/firecracker --uid 786432 --gid 786432"
                + " --chroot-base-dir /data/box-1/jail --resource-limit no-file=256"
                + " --netns /run/netns/box -- --api-sock api");
    assertThat(jailed.folder().path())
        .isEqualTo(Path.of("/data/box-1/jail/firecracker/box-1/root"));
    assertThatThrownBy(() -> direct("a/../b")).isInstanceOf(IllegalArgumentException.class);
  }
}
