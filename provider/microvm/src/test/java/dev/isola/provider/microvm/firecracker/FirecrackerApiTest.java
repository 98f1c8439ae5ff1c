package dev.isola.provider.microvm.firecracker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.microvm.firecracker.FirecrackerApi.Snapshot;
import dev.isola.provider.microvm.firecracker.FirecrackerApi.State;
import dev.isola.provider.microvm.firecracker.FirecrackerMachine.Hardware;
import dev.isola.provider.microvm.firecracker.StubFaults.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The requests that boot, save and continue a machine, against a stub of Firecracker. */
class FirecrackerApiTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Hardware HARDWARE = new Hardware(2, 256, Optional.empty());

  @TempDir Path folder;

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final List<Integer> exits = Collections.synchronizedList(new ArrayList<>());
  private final List<FirecrackerStub> stubs = new ArrayList<>();

  @BeforeEach
  void createFiles() throws IOException {
    for (String name : List.of("kernel", "initramfs", "disk", "scratch")) {
      Files.writeString(folder.resolve(name), name);
    }
  }

  @AfterEach
  void endStubs() throws IOException {
    for (FirecrackerStub stub : stubs) {
      stub.close();
    }
  }

  private FirecrackerApi api() throws IOException {
    return api(StubFaults.NONE);
  }

  /** Starts a fresh process, as far as the stub is one. */
  private FirecrackerApi api(StubFaults faults) throws IOException {
    endStubs();
    Files.deleteIfExists(folder.resolve("api"));
    Files.deleteIfExists(folder.resolve("v"));
    lines.clear();
    Path socket = folder.resolve("api");
    stubs.add(
        new FirecrackerStub(folder, socket, Optional.empty(), faults, lines::add, exits::add));
    return new FirecrackerApi(socket, TIMEOUT);
  }

  @Test
  void bootConfiguresTheMachineBeforeItStarts() throws IOException {
    FirecrackerApi api = api();
    assertThat(api.version()).isEqualTo(FirecrackerStub.VERSION);
    assertThat(api.state()).isEqualTo(State.NOT_STARTED);
    new FirecrackerMachine(api).boot(new Hardware(2, 256, Optional.of("tap7")));
    assertThat(api.state()).isEqualTo(State.RUNNING);
    assertThat(lines)
        .noneMatch(line -> line.contains("refused"))
        .filteredOn(line -> line.startsWith("PUT"))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .isEqualTo(
                        "PUT /machine-config"
                            + " {\"vcpu_count\":2,\"mem_size_mib\":256,\"smt\":false}"),
            line ->
                assertThat(line)
                    .startsWith("PUT /boot-source {\"kernel_image_path\":\"kernel\"")
                    .contains("isola.channel=vsock:1024\""),
            line ->
                assertThat(line)
                    .isEqualTo(
                        "PUT /drives/disk {\"drive_id\":\"disk\",\"path_on_host\":\"disk\","
                            + "\"is_root_device\":false,\"is_read_only\":true}"),
            line -> assertThat(line).startsWith("PUT /drives/scratch ").contains("only\":false"),
            line -> assertThat(line).isEqualTo("PUT /vsock {\"guest_cid\":3,\"uds_path\":\"v\"}"),
            line ->
                assertThat(line)
                    .startsWith("PUT /network-interfaces/eth0 ")
                    .contains("\"host_dev_name\":\"tap7\""),
            line -> assertThat(line).isEqualTo("PUT /entropy {}"),
            line -> assertThat(line).isEqualTo("PUT /actions {\"action_type\":\"InstanceStart\"}"));
  }

  @Test
  void savedMachineContinuesInAFreshProcess() throws IOException {
    FirecrackerApi source = api();
    new FirecrackerMachine(source).boot(HARDWARE);
    new FirecrackerMachine(source).save(TIMEOUT);
    assertThat(source.state()).isEqualTo(State.PAUSED);
    source.resume();
    assertThat(source.state()).isEqualTo(State.RUNNING);

    FirecrackerApi copy = api();
    new FirecrackerMachine(copy).restore(new Hardware(2, 256, Optional.of("tap8")), TIMEOUT);
    assertThat(copy.state()).isEqualTo(State.RUNNING);
    assertThat(lines.getFirst())
        .startsWith("PUT /snapshot/load {\"snapshot_path\":\"state\"")
        .contains("\"mem_backend\":{\"backend_type\":\"File\",\"backend_path\":\"memory\"}")
        .contains("\"vsock_override\":{\"uds_path\":\"v\"}")
        .contains("\"network_overrides\":[{\"iface_id\":\"eth0\",\"host_dev_name\":\"tap8\"}]")
        .contains("\"resume_vm\":false");
    assertThat(exits).isEmpty();
  }

  @Test
  void requestsInTheWrongOrderAreRefusedWithTheReasonOfFirecracker() throws IOException {
    FirecrackerApi api = api();
    assertThatThrownBy(api::start)
        .isInstanceOf(FirecrackerRefusedException.class)
        .hasMessage(
            "Firecracker refused PUT /actions with status 400: Cannot start microvm without kernel"
                + " configuration.");
    assertThatThrownBy(api::pause).hasMessageContaining("before starting the microVM");
    FirecrackerMachine machine = new FirecrackerMachine(api);
    machine.boot(HARDWARE);
    assertThatThrownBy(() -> api.setMachine(1, 128))
        .hasMessageContaining("PUT /machine-config")
        .hasMessageContaining("after starting the microVM");
    assertThatThrownBy(() -> api.createSnapshot(new Snapshot("s", "m"), TIMEOUT))
        .hasMessageContaining("is not paused");
    assertThatThrownBy(
            () -> api.loadSnapshot(new Snapshot("s", "m"), "v", List.of(), false, TIMEOUT))
        .hasMessageContaining("after configuring boot-specific resources");
    api.replaceDrive("scratch", "disk");
  }

  @Test
  void missingFilesAreNamed() throws IOException {
    Files.delete(folder.resolve("disk"));
    assertThatThrownBy(() -> new FirecrackerMachine(api()).boot(HARDWARE))
        .hasMessageContaining("PUT /drives/disk")
        .hasMessageContaining("No such file or directory");
  }

  @Test
  void processThatCannotLoadASnapshotSaysWhyAndExits() throws IOException {
    assertThatThrownBy(() -> new FirecrackerMachine(api()).restore(HARDWARE, TIMEOUT))
        .isInstanceOf(FirecrackerRefusedException.class)
        .hasMessageContaining("PUT /snapshot/load")
        .hasMessageContaining("Failed to open snapshot file");
    await().untilAsserted(() -> assertThat(exits).containsExactly(1));
  }

  @Test
  void silentFirecrackerIsGivenUpAtTheDeadline() throws IOException {
    api(StubFaults.on("GET /version", Kind.HANG, ""));
    FirecrackerApi impatient = new FirecrackerApi(folder.resolve("api"), Duration.ofMillis(300));
    assertThatThrownBy(impatient::version)
        .hasMessage("Firecracker did not answer GET /version within 300 ms");
  }

  @Test
  void slowFirecrackerIsAwaited() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<Optional<StubFaults.Fault>> answer = new CompletableFuture<>();
    FirecrackerApi patient =
        api(
            _ -> {
              asked.countDown();
              return answer.join();
            });
    FutureTask<String> version = new FutureTask<>(patient::version);
    Thread.ofVirtual().start(version);
    assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(version.isDone()).isFalse();
    answer.complete(Optional.empty());
    assertThat(version.get(10, TimeUnit.SECONDS)).isEqualTo(FirecrackerStub.VERSION);
  }

  @Test
  void processThatExitsWithinACallIsReported() throws IOException {
    FirecrackerApi api = api((request) -> Optional.of(new StubFaults.Fault(Kind.ANSWER, "")));
    assertThatThrownBy(api::state)
        .hasMessage("Firecracker did not answer GET /: it closed the connection within a response");
    endStubs();
    assertThatThrownBy(api::state).hasMessageStartingWith("Firecracker did not answer GET /: ");
  }

  @Test
  void unusableAnswersAreErrors() throws IOException {
    assertThatThrownBy(api(StubFaults.on("GET /version", Kind.FLOOD, ""))::version)
        .hasMessageEndingWith("its answer is longer than 65536 bytes");
    assertThat(answerTo("{\"firecracker_version\":7}"))
        .isEqualTo("Firecracker's answer has no text firecracker_version");
    assertThat(answerTo("[]")).contains("is not a JSON object");
    assertThat(answerTo("{")).contains("is not a JSON object");
    assertThatThrownBy(api(StubFaults.on("GET /version", Kind.ANSWER, "220 smtp\r\n\r\n"))::version)
        .hasMessageContaining("does not speak HTTP");
    FirecrackerApi unknownState =
        api(StubFaults.on("GET /", Kind.ANSWER, StubFaults.response(200, "{\"state\":\"Odd\"}")));
    assertThatThrownBy(unknownState::state).hasMessage("Firecracker reports an unknown state: Odd");
    FirecrackerApi wrongStatus =
        api(StubFaults.on("PUT /entropy", Kind.ANSWER, StubFaults.response(200, "{}")));
    assertThatThrownBy(wrongStatus::addEntropyDevice)
        .hasMessageEndingWith("its answer has status 200 instead of 204");
  }

  private String answerTo(String body) throws IOException {
    FirecrackerApi api =
        api(StubFaults.on("GET /version", Kind.ANSWER, StubFaults.response(200, body)));
    try {
      return api.version();
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  void reasonsAreBoundedAndPrintable() throws IOException {
    String hostile = "\\u001b[2J\\n" + "a".repeat(10_000);
    FirecrackerApi api =
        api(
            StubFaults.on(
                "PUT /entropy",
                Kind.ANSWER,
                StubFaults.response(400, "{\"fault_message\":\"" + hostile + "\"}")));
    assertThatThrownBy(api::addEntropyDevice)
        .satisfies(
            e ->
                assertThat(e.getMessage())
                    .hasSizeLessThan(700)
                    .doesNotContain("\u001b", "\n")
                    .startsWith("Firecracker refused PUT /entropy with status 400: [2J aaa"));
    FirecrackerApi mute =
        api(StubFaults.on("PUT /entropy", Kind.ANSWER, StubFaults.response(500, "oops")));
    assertThatThrownBy(mute::addEntropyDevice)
        .hasMessage("Firecracker refused PUT /entropy with status 500 and no reason");
  }
}
