package dev.isola.app.purge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.HttpCalls;
import dev.isola.app.LiveServer;
import dev.isola.app.SmallImage;
import dev.isola.app.instance.InstanceProcesses;
import dev.isola.link.local.AgentProcess;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.docker.DockerProviderFactory;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ten installations on one machine, with data folders in every constellation. Each is purged in
 * turn, and each purge destroys its own sandboxes and no others.
 */
@Tag("all")
@Timeout(900)
class PurgeConstellationsTest {
  private static final String OTHER_USER = "64321";

  @TempDir Path folder;
  private final List<List<String>> undo = new ArrayList<>();
  private final List<AutoCloseable> closers = new ArrayList<>();

  /** An installation with a sandbox that runs without a server. */
  private record Installation(
      Path data, String id, String sandbox, ProviderFactory provider, List<String> settings) {
    CommandResult isola(String... words) {
      List<String> all = new ArrayList<>(List.of(words));
      settings.forEach(setting -> all.addAll(List.of("--set", setting)));
      return new CommandLineFixture(data, provider).call(all.toArray(String[]::new));
    }
  }

  private final Map<String, Installation> installations = new LinkedHashMap<>();

  @BeforeEach
  void requireRoot() throws IOException {
    Assumptions.assumeTrue(
        Files.exists(Path.of("/usr/bin/bwrap")), "NOT RUN: bubblewrap is not installed");
    Assumptions.assumeTrue(
        Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
        "NOT RUN: mounts and another user need root");
  }

  @AfterEach
  void undo() throws Exception {
    Map<String, Set<AgentProcess>> left = processes();
    for (Map.Entry<String, Installation> one : installations.entrySet()) {
      if (!left.getOrDefault(one.getKey(), Set.of()).isEmpty()) {
        one.getValue().isola("purge", "--yes", "--instance", one.getValue().id());
      }
    }
    for (AutoCloseable one : closers.reversed()) {
      one.close();
    }
    for (List<String> command : undo.reversed()) {
      int _ = new ProcessBuilder(command).start().waitFor();
    }
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(String.join(" ", command) + ": " + output).isZero();
  }

  private Path mounted(String name, String... mount) throws Exception {
    Path point = Files.createDirectories(folder.resolve(name));
    List<String> command = new ArrayList<>(List.of(mount));
    command.add(point.toString());
    run(command.toArray(String[]::new));
    undo.add(List.of("umount", point.toString()));
    return point;
  }

  private void install(String name, Path data) throws Exception {
    install(name, data, "{\"ttlSeconds\":3600}", new BubblewrapProviderFactory());
  }

  /** Creates a sandbox with a server that then stops; the sandbox runs on. */
  private void install(
      String name, Path data, String request, ProviderFactory provider, String... settings)
      throws Exception {
    String sandbox;
    try (LiveServer server = LiveServer.start(data, provider, settings)) {
      sandbox = new HttpCalls(server.url, LiveServer.KEY).create(request);
    }
    installations.put(
        name,
        new Installation(
            data,
            Files.readString(data.resolve("instance")).strip(),
            sandbox,
            provider,
            List.of(settings)));
  }

  /** Stands for the agent of another user's installation, whose JVM cannot be started here. */
  private void installOfOtherUser(Path data) throws Exception {
    Files.createDirectories(data);
    String id = "testotheruser1";
    Files.writeString(data.resolve("instance"), id + "\n");
    run("chown", "-R", OTHER_USER + ":" + OTHER_USER, data.toString());
    Process agent =
        new ProcessBuilder(
                "setpriv",
                "--reuid=" + OTHER_USER,
                "--regid=" + OTHER_USER,
                "--clear-groups",
                "sh",
                "-c",
                "sleep 3600; :",
                "agent",
                "--instance",
                id,
                "--sandbox",
                "other1")
            .start();
    closers.add(
        () -> {
          agent.descendants().forEach(ProcessHandle::destroyForcibly);
          agent.destroyForcibly().waitFor();
        });
    installations.put(
        "other user",
        new Installation(data, id, "other1", new BubblewrapProviderFactory(), List.of()));
  }

  private void installAll() throws Exception {
    Path plain = folder.resolve("plain");
    install("plain", plain);
    install("a path that begins alike", folder.resolve("plain-2"));
    install("within the folder of another", plain.resolve("trial"));
    install("mount point", mounted("tmpfs", "mount", "-t", "tmpfs", "isola-test"));
    Path source = Files.createDirectories(folder.resolve("source"));
    install("bind mount", mounted("bind", "mount", "--bind", source.toString()));
    Path image = folder.resolve("image");
    run("truncate", "-s", "512M", image.toString());
    run("mkfs.ext4", "-q", "-F", image.toString());
    install("loop device", mounted("loop", "mount", "-o", "loop", image.toString()));
    Path target = Files.createDirectories(folder.resolve("target"));
    install("symbolic link", Files.createSymbolicLink(folder.resolve("link"), target));
    Path archive = folder.resolve("backup.tar");
    assertThat(installation("plain").isola("backup", archive.toString()).code()).isZero();
    Path copy = folder.resolve("copy");
    CommandResult restored =
        new CommandLineFixture(copy, new BubblewrapProviderFactory())
            .call("restore", archive.toString());
    assertThat(restored.code()).as(restored.err()).isZero();
    install("restored copy", copy);
    installOfOtherUser(folder.resolve("other-user"));
    if (TestContainerEngine.Kind.DOCKER.missing().isEmpty()) {
      TestContainerEngine engine = TestContainerEngine.docker(false);
      closers.add(engine);
      Path data = folder.resolve("docker");
      SmallImage.addTo(data, folder);
      install(
          "containers",
          data,
          "{\"ttlSeconds\":3600,\"image\":\"" + SmallImage.NAME + "\"}",
          new DockerProviderFactory(),
          "providers.docker.host=" + engine.host());
    }
  }

  private Installation installation(String name) {
    return Objects.requireNonNull(installations.get(name), name);
  }

  /** Returns the processes of sandboxes, by the name of the installation. */
  private Map<String, Set<AgentProcess>> processes() {
    Map<String, Set<AgentProcess>> found = new LinkedHashMap<>();
    InstanceProcesses all = InstanceProcesses.read();
    installations.forEach(
        (name, one) ->
            found.put(
                name,
                all.ofSandboxes().stream()
                    .filter(process -> process.instance().equals(new InstanceId(one.id())))
                    .filter(process -> process.sandbox().equals(new SandboxId(one.sandbox())))
                    .map(InstanceProcesses.OfSandbox::process)
                    .collect(Collectors.toSet())));
    return found;
  }

  @Test
  void eachPurgeDestroysItsOwnAndNoOther() throws Exception {
    installAll();
    assertThat(installations.values().stream().map(Installation::id)).doesNotHaveDuplicates();
    Set<String> purged = new HashSet<>();
    Map<String, Set<AgentProcess>> before = processes();
    assertThat(before).allSatisfy((name, running) -> assertThat(running).as(name).isNotEmpty());
    // First those whose folder says the least about its path, such as a mount point.
    List<String> order = new ArrayList<>(installations.keySet());
    order.remove("plain");
    order.remove("within the folder of another");
    order.add("plain");
    for (String name : order) {
      Installation one = installation(name);
      CommandResult result = one.isola("purge", "--yes");
      assertThat(result.code()).as(name + ": " + result.out() + result.err()).isZero();
      purged.add(name);
      processes()
          .forEach(
              (other, running) -> {
                if (purged.contains(other)) {
                  assertThat(running).as(other + " after the purge of " + name).isEmpty();
                } else {
                  assertThat(running)
                      .as(other + " after the purge of " + name)
                      .isEqualTo(before.get(other));
                }
              });
    }
    Installation within = installation("within the folder of another");
    try (LiveServer server = LiveServer.start(within.data(), within.provider())) {
      HttpCalls api = new HttpCalls(server.url, LiveServer.KEY);
      assertThat(api.exec(within.sandbox(), "echo on")).isEqualTo("on\n");
    }
    CommandResult last = within.isola("purge", "--yes");
    assertThat(last.code()).as(last.out() + last.err()).isZero();
    assertThat(processes()).allSatisfy((name, running) -> assertThat(running).as(name).isEmpty());
    assertThat(mountPoints()).as("what the operator mounted").hasSize(3);
  }

  private List<String> mountPoints() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
        .map(line -> line.split(" ")[4])
        .filter(point -> point.startsWith(folder.toString()))
        .toList();
  }
}
