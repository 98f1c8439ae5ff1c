package dev.isola.host.launch;

import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter.SavedSandbox;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Saves running sandboxes: their processes, as the runtime writes them, and a copy of their files
 * with the ids they have inside. A saved sandbox is a folder named after the server process that
 * uses it, so that the next one removes it if that process was killed.
 */
final class SavedSandboxes {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** The process that uses it: pid and start time. */
  private static final Pattern NAME = Pattern.compile("(\\d+)-(\\d+)-[0-9a-f]+");

  private static final Duration TIMEOUT = Duration.ofSeconds(25);
  private static final String DONE = "done";

  /** The folders of a {@link WritableLayer} with files; others belong to overlays. */
  private static final List<String> PARTS =
      List.of("upper", "home", "root", "tmp", "vartmp", Workspace.NAME);

  private final Path folder;
  private final Launcher launcher;
  private final ForkStepListener steps;
  private final AtomicBoolean swept = new AtomicBoolean();

  /**
   * @param folder where they are; need not exist
   */
  SavedSandboxes(Path folder, Launcher launcher, ForkStepListener steps) {
    this.folder = folder;
    this.launcher = launcher;
    this.steps = steps;
  }

  /**
   * Saves a sandbox whose commands are frozen.
   *
   * @param provider its name, for messages
   */
  SavedSandbox save(
      String provider,
      Checkpoints checkpoints,
      SandboxId id,
      SandboxFolder source,
      SandboxUserIds users)
      throws IOException {
    removeAbandoned();
    SandboxShape shape = SandboxShape.read(source);
    Optional<String> obstacle = shape.obstacle();
    if (obstacle.isPresent()) {
      throw Capability.unsupported(
          provider, "a fork of the processes of sandbox " + id + ", because " + obstacle.get());
    }
    Path saved = newFolder();
    try {
      Files.createDirectory(saved.resolve("memory"), OWNER_ONLY);
      Files.createDirectory(saved.resolve("files"), OWNER_ONLY);
      shape.write(saved);
      steps.reached(ForkStep.SAVE_STARTED);
      saveProcesses(checkpoints, id, source, saved);
      steps.reached(ForkStep.PROCESSES_SAVED);
      saveFiles(source, users, saved);
      steps.reached(ForkStep.FILES_SAVED);
      return new SavedSandbox(saved);
    } catch (IOException | RuntimeException e) {
      new SandboxFolder(saved).remove();
      throw e;
    }
  }

  private Path newFolder() throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    long pid = ProcessHandle.current().pid();
    long start = AgentProcess.startTimeOf(pid).orElse(0L);
    return Files.createDirectory(
        folder.resolve(pid + "-" + start + "-" + HexFormat.of().formatHex(random)), OWNER_ONLY);
  }

  private void saveProcesses(
      Checkpoints checkpoints, SandboxId id, SandboxFolder source, Path saved) throws IOException {
    LaunchPlan plan =
        new LaunchPlan()
            .step("stage")
            .step("beside", Checkpoints.state(source).toString(), "state", "writable")
            .step("beside", saved.resolve("memory").toString(), "memory", "writable")
            .step("environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
    List<String> call = new java.util.ArrayList<>(checkpoints.saveCommand(id));
    call.addFirst("call");
    String answer = launcher.execute(plan.add(call).encode(), TIMEOUT);
    if (answer.equals(DONE)) {
      return;
    }
    Optional<String> obstacle = checkpoints.obstacle(answer);
    if (obstacle.isPresent()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "sandbox " + id + " cannot be saved: " + obstacle.get(),
              "close it, or request a fork of its files")
          .sandbox(id)
          .exception();
    }
    throw new IOException(answer.isEmpty() ? "the launcher exited without an answer" : answer);
  }

  /** The runtime has written all files to the host by now. */
  private void saveFiles(SandboxFolder source, SandboxUserIds users, Path saved)
      throws IOException {
    WritableLayer layer = new WritableLayer(source);
    LaunchPlan plan = new LaunchPlan();
    Disks.mount(plan, layer.image(), layer.path());
    Path spare = saved.resolve("spare");
    for (String part : parts(source)) {
      Path copy = saved.resolve("files").resolve(part);
      plan.step("make", copy.toString(), "700", "0", "0");
      fill(plan, copy, spare, "0", layer.resolve(part), users.root());
    }
    plan.step("remove", spare.toString());
    String answer = launcher.execute(plan.encode(), TIMEOUT);
    if (!answer.equals(DONE)) {
      throw new IOException(answer.isEmpty() ? "the launcher exited without an answer" : answer);
    }
  }

  private static List<String> parts(SandboxFolder sandbox) {
    boolean image = Files.exists(BootPlanner.imageFile(sandbox));
    return image
        ? List.of("upper", Workspace.NAME)
        : PARTS.stream().filter(part -> !part.equals("upper")).toList();
  }

  private static void fill(
      LaunchPlan plan, Path out, Path spare, String first, Path from, String fromFirst) {
    plan.step("fill", out.toString(), spare.toString(), first, from.toString(), fromFirst);
  }

  /**
   * Returns the plan that restores a sandbox.
   *
   * @param boot the plan that would boot it
   */
  LaunchPlan restorePlan(
      Checkpoints checkpoints,
      LaunchPlan boot,
      SandboxFolder sandbox,
      SandboxUserIds users,
      SavedSandbox saved)
      throws IOException {
    requireSameShape(sandbox, saved);
    WritableLayer layer = new WritableLayer(sandbox);
    LaunchPlan files = new LaunchPlan();
    for (String part : parts(sandbox)) {
      fill(
          files,
          layer.resolve(part),
          layer.resolve("spare"),
          users.root(),
          saved.folder().resolve("files").resolve(part),
          "0");
    }
    List<String> run = boot.find("run").orElseThrow();
    List<String> words =
        new java.util.ArrayList<>(
            checkpoints.restoreCommand(run.subList(1, run.size()), "/tmp/state/pid"));
    words.addFirst("run");
    LaunchPlan memory =
        new LaunchPlan()
            .step("beside", saved.folder().resolve("memory").toString(), "memory", "writable")
            .step("restored", Checkpoints.state(sandbox).resolve("pid").toString());
    return boot.insertBefore("stage", files).insertBefore("run", memory).replaceStep(words);
  }

  private static void requireSameShape(SandboxFolder sandbox, SavedSandbox saved)
      throws IOException {
    Optional<String> difference =
        SandboxShape.read(saved.folder()).difference(SandboxShape.read(sandbox));
    if (difference.isPresent()) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a fork of memory must equal its source: " + difference.get(),
              "request a fork of the files, or the same spec")
          .exception();
    }
  }

  void discard(SavedSandbox saved) throws IOException {
    new SandboxFolder(saved.folder()).remove();
  }

  /** Removes what server processes have left that were killed; once. */
  private void removeAbandoned() throws IOException {
    if (!swept.compareAndSet(false, true)) {
      return;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
      for (Path one : all) {
        Matcher name = NAME.matcher(one.getFileName().toString());
        if (name.matches() && !isAlive(name)) {
          new SandboxFolder(one).remove();
        }
      }
    } catch (NoSuchFileException none) {
      // No sandbox was saved.
    }
  }

  private static boolean isAlive(Matcher name) {
    return new AgentProcess(Long.parseLong(name.group(1)), Long.parseLong(name.group(2)), false)
        .isAlive();
  }
}
