package dev.isola.host.launch;

import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.MemoryForker;
import dev.isola.link.local.ProcessFolders;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

/**
 * Saves running sandboxes: their processes, as the runtime writes them, and a copy of their files
 * with the ids they have inside. A saved sandbox is a folder named after the server process that
 * uses it, so that the next one removes it if that process was killed, at its first health check.
 */
final class SavedSandboxes implements MemoryForker {
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final Duration TIMEOUT = Duration.ofSeconds(25);
  private static final String DONE = "done";
  private static final String FILES_ARCHIVE = "files.tar";
  private static final Pattern STORED_NAME =
      Pattern.compile("shape|secret|files\\.tar|memory/[A-Za-z0-9_.-]{1,64}");

  /** The folders of a {@link WritableLayer} with files; others belong to overlays. */
  private static final List<String> PARTS =
      List.of("upper", "home", "root", "tmp", "vartmp", Workspace.NAME);

  private final ProcessFolders folders;
  private final Isolator isolator;
  private final BootPlanner planner;
  private final Launcher launcher;
  private final ForkStepListener steps;
  private final AtomicBoolean swept = new AtomicBoolean();

  /**
   * @param folder where they are; need not exist
   */
  SavedSandboxes(
      Path folder,
      Isolator isolator,
      BootPlanner planner,
      Launcher launcher,
      ForkStepListener steps) {
    this.folders = new ProcessFolders(folder);
    this.isolator = isolator;
    this.planner = planner;
    this.launcher = launcher;
    this.steps = steps;
  }

  private Checkpoints checkpoints() {
    return isolator.checkpoints().orElseThrow();
  }

  @Override
  public SavedSandbox save(SandboxRecord record, SandboxFolder source) throws IOException {
    removeAbandoned();
    SandboxId id = record.id();
    SandboxShape shape = SandboxShape.read(source);
    Optional<String> obstacle = shape.obstacle();
    if (obstacle.isPresent()) {
      throw Capability.unsupported(
          isolator.traits().name(),
          "a fork of the processes of sandbox " + id + ", because " + obstacle.get());
    }
    Path saved = folders.create();
    try {
      Files.createDirectory(saved.resolve("memory"), OWNER_ONLY);
      Files.createDirectory(saved.resolve("files"), OWNER_ONLY);
      shape.write(saved);
      steps.reached(ForkStep.SAVE_STARTED);
      saveProcesses(id, source, saved);
      steps.reached(ForkStep.PROCESSES_SAVED);
      saveFiles(source, planner.users(id, source), saved);
      steps.reached(ForkStep.FILES_SAVED);
      return new SavedSandbox(saved, record.secret());
    } catch (IOException | RuntimeException e) {
      new SandboxFolder(saved).remove();
      throw e;
    }
  }

  private void saveProcesses(SandboxId id, SandboxFolder source, Path saved) throws IOException {
    LaunchPlan plan =
        new LaunchPlan()
            .step("stage")
            .step("beside", Checkpoints.state(source).toString(), "state", "writable")
            .step("beside", saved.resolve("memory").toString(), "memory", "writable")
            .step("environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
    List<String> call = new ArrayList<>(checkpoints().saveCommand(id));
    call.addFirst("call");
    String answer = launcher.execute(plan.add(call).encode(), TIMEOUT);
    if (answer.equals(DONE)) {
      return;
    }
    Optional<String> obstacle = checkpoints().obstacle(answer);
    if (obstacle.isPresent()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "sandbox " + id + " cannot be saved: " + obstacle.get(),
              "close it, or request a fork of its files")
          .sandbox(id)
          .exception();
    }
    int stack = answer.indexOf(" goroutine "); // of a program in Go, after its message
    throw new IOException(
        answer.isEmpty()
            ? "the launcher exited without an answer"
            : answer.substring(0, stack < 0 ? answer.length() : stack));
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

  @Override
  public RestoredSandbox restore(BootRequest request, SavedSandbox saved) throws IOException {
    SandboxId id = request.spec().id();
    try (Launcher.Session session = launcher.open(id)) {
      BootPlanner.Planned planned = planner.plan(request);
      IsolatedBooter.save(IsolatedBooter.planFile(request.folder()), planned.plan().encode());
      planner.clearState(request.folder());
      byte[] plan = restorePlan(id, planned.plan(), request.folder(), saved).encode();
      steps.reached(ForkStep.RESTORE_PLANNED);
      AgentProcess agent = session.boot(id, plan, request.timeout());
      steps.reached(ForkStep.RESTORED);
      return new RestoredSandbox(agent, planned.record());
    }
  }

  /**
   * Returns the plan that restores a sandbox.
   *
   * @param boot the plan that would boot it
   */
  private LaunchPlan restorePlan(
      SandboxId id, LaunchPlan boot, SandboxFolder sandbox, SavedSandbox saved) throws IOException {
    requireSameShape(sandbox, saved);
    SandboxUserIds users = planner.users(id, sandbox);
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
        new ArrayList<>(checkpoints().restoreCommand(run.subList(1, run.size()), "/tmp/state/pid"));
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

  /**
   * Returns a saved sandbox as an archive. The files are an archive in it, because their owners and
   * the attributes of overlays could not be stored otherwise.
   */
  @Override
  public InputStream archive(SavedSandbox saved) throws IOException {
    Path files = saved.folder().resolve(FILES_ARCHIVE);
    SavedArchive.tar(
        List.of(
            "--create",
            "--file=" + files,
            "--format=posix",
            "--sparse",
            "--directory=" + saved.folder().resolve("files"),
            "."));
    SavedArchive.writeSecret(saved);
    List<String> names = new ArrayList<>(List.of("shape", "secret", FILES_ARCHIVE));
    try (DirectoryStream<Path> memory =
        Files.newDirectoryStream(saved.folder().resolve("memory"))) {
      memory.forEach(file -> names.add("memory/" + file.getFileName()));
    }
    return SavedArchive.of(saved.folder(), names);
  }

  @Override
  public SavedSandbox open(InputStream archive) throws IOException {
    removeAbandoned();
    Path saved = folders.create();
    try {
      Files.createDirectory(saved.resolve("memory"), OWNER_ONLY);
      Files.createDirectory(saved.resolve("files"), OWNER_ONLY);
      SavedArchive.unpack(archive, saved, STORED_NAME);
      SavedArchive.requireFiles(saved, List.of("shape", FILES_ARCHIVE));
      Secret secret = SavedArchive.readSecret(saved);
      SavedArchive.tar(
          List.of(
              "--extract",
              "--same-owner",
              "--same-permissions",
              "--file=" + saved.resolve(FILES_ARCHIVE),
              "--directory=" + saved.resolve("files")));
      Files.delete(saved.resolve(FILES_ARCHIVE));
      return new SavedSandbox(saved, secret);
    } catch (IOException | RuntimeException e) {
      new SandboxFolder(saved).remove();
      throw e;
    }
  }

  @Override
  public void discard(SavedSandbox saved) throws IOException {
    new SandboxFolder(saved.folder()).remove();
  }

  /** Removes what server processes have left that were killed. Does nothing after it succeeded. */
  void removeAbandoned() throws IOException {
    if (!swept.compareAndSet(false, true)) {
      return;
    }
    try {
      for (Path abandoned : folders.abandoned()) {
        new SandboxFolder(abandoned).remove();
      }
    } catch (IOException | RuntimeException e) {
      swept.set(false);
      throw e;
    }
  }
}
