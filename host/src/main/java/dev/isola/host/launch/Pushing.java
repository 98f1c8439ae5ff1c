package dev.isola.host.launch;

import dev.isola.host.layer.Layers;
import dev.isola.host.layer.Step;
import dev.isola.host.layer.Steps;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter.Frozen;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Makes what a running sandbox's workspace has now a layer that nobody writes to, with a fresh
 * folder above it for the sandbox. The launcher does it in one go, in a process that does not end
 * with ours: it stops the sandbox's processes, makes the old workspace read only, which the kernel
 * refuses while anybody could write to it, mounts the new one over it and renames the files.
 *
 * @param provider for errors
 */
record Pushing(String provider, Layers layers, Merging merging, Launcher launcher) {
  /** The launcher takes a few more. They are merged long before, unless that is not possible. */
  static final int DEEPEST = 120;

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /**
   * How long, in milliseconds, is waited before a workspace in use is tried again; each twice that.
   */
  private static final long FIRST_PAUSE = 5;

  private static final long LAST_PAUSE = 40;
  private static final Duration MERGING = Duration.ofSeconds(60);
  private static final String SILENT = "the launcher said nothing";
  private static final Pattern DONE = Pattern.compile("done held=(\\d+)");
  private static final Pattern BUSY = Pattern.compile("busy (.*)");

  /** Where the launcher has the new workspace; see push.h. */
  private static final String STAGED = "/workspace";

  Frozen freeze(SandboxId id, SandboxFolder folder, Users users, AgentProcess agent)
      throws IOException {
    mend(id, folder);
    Workspace workspace = new Workspace(folder, users, layers);
    if (untouched(workspace, agent)) {
      Held all = hold(workspace);
      return new Frozen(all.layers(), all.holder(), Duration.ZERO);
    }
    Plan plan = Plan.decode(Files.readAllBytes(IsolatedBooter.planFile(folder)));
    Optional<List<String>> step = plan.find(Workspace.VERB);
    if (step.isEmpty()) {
      throw Capability.unsupported(provider, "forking a sandbox with a workspace of the caller's");
    }
    Held beneath = hold(workspace);
    try {
      if (beneath.layers().size() >= DEEPEST) {
        throw busy(id, "its workspace lies on " + beneath.layers().size() + " layers");
      }
      return push(id, workspace, beneath.layers(), plan, step.get().get(1), agent);
    } finally {
      layers.release(beneath.layers(), beneath.holder());
    }
  }

  private boolean untouched(Workspace workspace, AgentProcess agent) throws IOException {
    Optional<List<String>> words = workspace.untouched();
    if (words.isEmpty()) {
      return false;
    }
    return switch (launch(looking(workspace, agent).add(words.get()).encode())) {
      case "yes" -> true;
      case "no" -> false;
      case String other -> throw new IOException(other.isEmpty() ? SILENT : other);
    };
  }

  /** Returns the first steps of a plan that changes a sandbox that runs. */
  private static Plan looking(Workspace workspace, AgentProcess agent) {
    Plan plan = new Plan();
    if (!workspace.users().range()) {
      plan.step("join", Long.toString(agent.pid()));
    }
    Layer layer = new Layer(workspace.folder());
    Disks.mount(plan, layer.image(), layer.path());
    return plan;
  }

  /** Layers that somebody keeps for a while. */
  private record Held(List<String> layers, String holder) {}

  /** Keeps the files that a workspace lies on, in as few layers as there are now. */
  private Held hold(Workspace workspace) throws IOException {
    List<String> listed = workspace.standsOn();
    List<String> few = layers.shortened(listed);
    if (few.size() >= DEEPEST) {
      merging.now(few, MERGING);
      few = layers.shortened(listed);
    }
    try {
      return new Held(few, layers.hold(few));
    } catch (NoSuchFileException goneMeanwhile) {
      return new Held(listed, layers.hold(listed));
    }
  }

  private Frozen push(
      SandboxId id,
      Workspace workspace,
      List<String> beneath,
      Plan plan,
      String mount,
      AgentProcess agent)
      throws IOException {
    Path folder = workspace.folder().path();
    layers.use(beneath, id.value(), folder);
    Layer own = new Layer(workspace.folder());
    Optional<Path> disk = own.hasDisk() ? Optional.of(own.image()) : Optional.empty();
    String layer = layers.make(workspace.users().first(), id.value(), folder, disk);
    List<String> all = new ArrayList<>(List.of(layer));
    all.addAll(beneath);
    String holder = layers.hold(all);
    try {
      return new Frozen(all, holder, new Push(id, workspace, mount, agent, all).carryOut(plan));
    } catch (IOException | RuntimeException e) {
      layers.release(all, holder);
      throw e;
    }
  }

  /**
   * Brings pushes to an end that nobody knows the end of: their process was killed, or gave no
   * answer.
   */
  void mend(SandboxId id, SandboxFolder folder) throws IOException {
    List<Path> intents = new ArrayList<>();
    try (DirectoryStream<Path> found =
        Files.newDirectoryStream(folder.path(), Draft.INTENT + "*")) {
      found.forEach(intents::add);
    }
    for (Path intent : intents) {
      String layer = intent.getFileName().toString().substring(Draft.INTENT.length());
      finish(id, new Draft(folder.path(), layer));
    }
  }

  /** Returns whether the sandbox has the new workspace. */
  private boolean finish(SandboxId id, Draft draft) throws IOException {
    String answer = launch(Files.readAllBytes(draft.intent()));
    if (!answer.startsWith("done") && !answer.startsWith("undone")) {
      throw new IOException(answer.isEmpty() ? SILENT : answer);
    }
    boolean done = answer.startsWith("done");
    if (!done) {
      remove(draft);
    }
    settle(id, draft);
    return done;
  }

  private void remove(Draft draft) throws IOException {
    draft.remove();
    Layer layer = new Layer(new SandboxFolder(draft.folder()));
    Plan plan = new Plan();
    Disks.mount(plan, layer.image(), layer.path());
    String answer =
        launch(plan.step("remove", draft.own().toString(), draft.work().toString()).encode());
    if (!answer.equals("done")) {
      throw new IOException(answer.isEmpty() ? SILENT : answer);
    }
  }

  /** The sandbox uses what is written down now, whichever that is. */
  private void settle(SandboxId id, Draft draft) throws IOException {
    Workspace now = new Workspace(new SandboxFolder(draft.folder()), Users.SERVER, layers);
    layers.keepOnly(id.value(), now.uses());
    Files.deleteIfExists(draft.intent());
  }

  private String launch(byte[] plan) throws IOException {
    return launcher.ask(plan, PATIENCE);
  }

  /**
   * One push: the workspace will lie on all of these layers, of which the topmost is to be filled.
   */
  private final class Push {
    private final SandboxId id;
    private final Workspace workspace;
    private final String mount;
    private final AgentProcess agent;
    private final List<String> all;
    private final Draft draft;

    private Push(
        SandboxId id, Workspace workspace, String mount, AgentProcess agent, List<String> all) {
      this.id = id;
      this.workspace = workspace;
      this.mount = mount;
      this.agent = agent;
      this.all = all;
      this.draft = new Draft(workspace.folder().path(), all.getFirst());
    }

    /** Returns for how long the sandbox stood still. */
    Duration carryOut(Plan plan) throws IOException {
      boolean changed = !workspace.standsOn().equals(all.subList(1, all.size()));
      long begun = System.nanoTime();
      List<String> words = words();
      IsolatedBooter.save(draft.intent(), begin().step(step("mend", words)).encode());
      steps().reached(Step.PUSH_INTENDED);
      try {
        prepare(plan);
        steps().reached(Step.PUSH_PREPARED);
        String answer = pushed(stage().step(step("push", words)).encode());
        steps().reached(Step.PUSH_ANSWERED);
        Duration held = held(answer);
        if (changed) {
          settle(id, draft);
        } else {
          Files.delete(draft.intent());
        }
        steps().reached(Step.PUSH_FORGOTTEN);
        return held;
      } catch (SandboxException refused) {
        remove(draft);
        settle(id, draft);
        throw refused;
      } catch (IOException e) { // nobody knows what a launcher did that gave no answer
        if (finish(id, draft)) {
          return Duration.ofNanos(System.nanoTime() - begun);
        }
        throw e;
      }
    }

    /** Mostly who uses the workspace is just done with it: a command that ends, a file closed. */
    private String pushed(byte[] push) throws IOException {
      String answer = launch(push);
      for (long pause = FIRST_PAUSE; answer.startsWith("busy") && pause <= LAST_PAUSE; pause *= 2) {
        try {
          Thread.sleep(pause);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return answer;
        }
        answer = launch(push);
      }
      return answer;
    }

    private Steps steps() {
      return layers.steps();
    }

    private void prepare(Plan plan) throws IOException {
      if (workspace.standsOn().isEmpty()) {
        workspace.anchor(all.getFirst());
      }
      Files.write(draft.list(), all);
      IsolatedBooter.save(
          draft.plan(),
          plan.with(workspace.step(mount, workspace.own(), draft.work(), List.of(), all)).encode());
    }

    private Plan begin() {
      return looking(workspace, agent).step("stage");
    }

    private Plan stage() throws IOException {
      Plan plan = looking(workspace, agent);
      Layer.make(plan, workspace.users(), draft.work(), "700");
      workspace.makeLike(plan, workspace.own(), workspace.users().first(), draft.own());
      return plan.step("stage")
          .add(
              workspace.step(
                  STAGED,
                  draft.own(),
                  draft.work(),
                  List.of(workspace.own()),
                  all.subList(1, all.size())));
    }

    /** Where the files go: a rename stays within a file system. */
    private Path frozen() {
      Layer layer = new Layer(workspace.folder());
      String name = all.getFirst();
      return layer.hasDisk() ? layer.of(Layer.PUSHED).resolve(name) : layers.tree(name);
    }

    private static String[] step(String verb, List<String> words) {
      return Stream.concat(Stream.of(verb), words.stream()).toArray(String[]::new);
    }

    private List<String> words() throws IOException {
      return List.of(
          Long.toString(agent.pid()),
          Long.toString(agent.startTime()),
          MountTable.of(agent.pid()).topmost(mount),
          mount,
          Layer.INSIDE + "/" + Workspace.NAME,
          workspace.own().toString(),
          frozen().toString(),
          draft.own().toString(),
          workspace.own().toString(),
          draft.list().toString(),
          workspace.list().toString(),
          draft.plan().toString(),
          IsolatedBooter.planFile(workspace.folder()).toString());
    }

    private Duration held(String answer) throws IOException {
      Matcher done = DONE.matcher(answer);
      if (done.matches()) {
        return Duration.ofNanos(Long.parseLong(done.group(1)));
      }
      Matcher busy = BUSY.matcher(answer);
      if (busy.matches()) {
        throw busy(id, busy.group(1));
      }
      throw new IOException(answer.isEmpty() ? SILENT : answer);
    }
  }

  private static SandboxException busy(SandboxId id, String why) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "the workspace of sandbox " + id + " cannot be shared now: " + why,
            "end what uses it, or take a snapshot")
        .sandbox(id)
        .exception();
  }

  /** What a sandbox is to have, until it has it. */
  private record Draft(Path folder, String layer) {
    static final String INTENT = "push-";

    /** What the launcher is told to bring it to an end; written first, removed last. */
    Path intent() {
      return folder.resolve(INTENT + layer);
    }

    Path own() {
      return new Layer(new SandboxFolder(folder)).of("next-" + layer);
    }

    Path work() {
      return new Layer(new SandboxFolder(folder)).of("work-" + layer);
    }

    Path list() {
      return folder.resolve("layers-" + layer);
    }

    Path plan() {
      return folder.resolve("plan-" + layer);
    }

    /** Removes what of it is not in the sandbox's {@link Layer}. */
    void remove() throws IOException {
      Files.deleteIfExists(list());
      Files.deleteIfExists(plan());
    }
  }
}
