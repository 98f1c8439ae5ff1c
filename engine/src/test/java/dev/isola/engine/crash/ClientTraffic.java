package dev.isola.engine.crash;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.Startup;
import dev.isola.engine.api.template.StoreImages;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One client of the engine with its own sandboxes. Announces each operation whose outcome a crash
 * may hide, and reports what was acknowledged once the engine has returned.
 */
final class ClientTraffic implements Runnable {
  static final String LIFE = "life";
  static final String FOREVER = "forever";
  static final String BRIEF = "brief";
  static final String KEY = "key";

  /** The prefix of keys whose sandboxes have a startup. */
  static final String WITH_STARTUP = "s";

  /** The file that the ready command writes when it succeeds. */
  static final String READY_FILE = "ready";

  private static final Startup STARTUP =
      Startup.NONE
          .withStart(Command.shell("echo started > started; exec sleep 100000"))
          .withReady(Command.shell("test -s started && echo ready > " + READY_FILE));

  private static final Startup FAILING_STARTUP =
      Startup.NONE.withStart(Command.shell("exit 3")).withReady(Command.shell("false"));
  private static final int FEW = 2;
  private static final int MANY = 4;
  private static final Duration MOMENT = Duration.ofMillis(700);

  private static final BuildSettings BUILD = new BuildSettings("bubblewrap", NetworkMode.NONE);
  private static final Recipe RECIPE =
      new Recipe(
          new Recipe.Base.Image(StoreImages.SMALL),
          List.of(new BuildStep.Run("echo made > /made")),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  private final Engine engine;
  private final LineWriter out;
  private final SplittableRandom random;
  private final boolean bubblewrap;
  private final boolean building;
  private final List<OwnedSandbox> mine = new ArrayList<>();
  private final List<String> volumes = new ArrayList<>();
  private final List<String> templates = new ArrayList<>();

  /** A sandbox of this client, with its idempotency key or an empty string. */
  private record OwnedSandbox(SandboxId id, String provider, String key, boolean paused) {
    OwnedSandbox paused(boolean now) {
      return new OwnedSandbox(id, provider, key, now);
    }
  }

  /**
   * @param building whether it builds templates
   */
  ClientTraffic(
      Engine engine,
      LineWriter out,
      SplittableRandom random,
      boolean bubblewrap,
      boolean building) {
    this.building = building;
    this.engine = engine;
    this.out = out;
    this.random = random;
    this.bubblewrap = bubblewrap;
  }

  /** Takes over a sandbox of an earlier process. */
  void adopt(SandboxView entry) {
    if (entry.state() == SandboxState.RUNNING || entry.state() == SandboxState.PAUSED) {
      mine.add(
          new OwnedSandbox(
              entry.id(),
              entry.provider(),
              entry.labels().getOrDefault(KEY, ""),
              entry.state() == SandboxState.PAUSED));
    }
  }

  boolean has(SandboxId id) {
    return mine.stream().anyMatch(one -> one.id().equals(id));
  }

  @Override
  public void run() {
    while (true) {
      step();
    }
  }

  private void step() {
    if (building && random.nextInt(3) == 0) {
      template();
      return;
    }
    if (bubblewrap && random.nextInt(6) == 0) {
      volume();
      return;
    }
    if (mine.size() < FEW || (mine.size() < MANY && random.nextInt(3) == 0)) {
      begin();
      return;
    }
    OwnedSandbox one = mine.get(random.nextInt(mine.size()));
    if (one.paused()) {
      resume(one);
      return;
    }
    switch (random.nextInt(9)) {
      case 0, 1 -> work(one);
      case 2 -> renew(one);
      case 3, 4 -> pauseOr(one);
      case 5 -> repeat(one);
      default -> end(one);
    }
  }

  private void begin() {
    String number = Long.toString(random.nextLong() & Long.MAX_VALUE, 36);
    switch (random.nextInt(bubblewrap ? 11 : 9)) {
      case 0, 1 -> keyed("k" + number);
      case 2 -> keyed("wa" + number);
      case 3 -> keyed("wb" + number);
      case 4 -> make(CreateRequest.auto(spec("").build()));
      case 5 -> brief();
      case 6 -> failing();
      case 7 -> keyed(WITH_STARTUP + number);
      case 8 -> failingStartup();
      default -> make(CreateRequest.of(spec("").build(), "bubblewrap"));
    }
  }

  private SandboxSpec.Builder spec(String kind) {
    SandboxSpec.Builder spec = SandboxSpec.builder(SandboxId.random(random));
    return kind.isEmpty() ? spec : spec.env("KIND", kind);
  }

  /** Derives the request from the key, so that a repeated key is a repeated request. */
  private SandboxRequest request(String key) {
    String kind = key.startsWith("w") ? key.substring(0, 2) : "";
    return SandboxRequest.of(CreateRequest.of(spec(kind).build(), "subprocess"))
        .withIdempotencyKey(key)
        .withLabels(labels(FOREVER, key))
        .withStartup(key.startsWith(WITH_STARTUP) ? STARTUP : Startup.NONE);
  }

  private static Map<String, String> labels(String life, String key) {
    Map<String, String> labels = new HashMap<>(Map.of(LIFE, life));
    if (!key.isEmpty()) {
      labels.put(KEY, key);
    }
    return labels;
  }

  private void keyed(String key) {
    out.write("ordering", key);
    attempt("create", key, () -> created(engine.creator().create(request(key)), key));
  }

  /** Repeats a request whose server died before it responded. */
  void retry(String key) {
    try {
      created(engine.creator().create(request(key)), key);
    } catch (Gone e) {
      out.write("refused", key);
    } catch (OutcomeUnknown | DeadlineExceeded e) {
      out.write("unknown", "retry", key);
    } catch (SandboxException e) {
      out.write("trouble", "retry", key, e);
    }
  }

  private void make(CreateRequest request) {
    attempt(
        "create",
        "-",
        () ->
            created(
                engine.creator().create(SandboxRequest.of(request).withLabels(labels(FOREVER, ""))),
                ""));
  }

  private void created(CreateResult delivery, String key) {
    SandboxView entry = delivery.view();
    out.write("created", entry.id(), key.isEmpty() ? "-" : key, FOREVER);
    if (!has(entry.id())) {
      mine.add(new OwnedSandbox(entry.id(), entry.provider(), key, false));
    }
  }

  private void brief() {
    SandboxSpec spec = spec("").build();
    attempt(
        "create",
        "-",
        () -> {
          CreateResult delivery =
              engine
                  .creator()
                  .create(
                      SandboxRequest.of(CreateRequest.of(spec, "subprocess").withTtl(MOMENT))
                          .withLabels(labels(BRIEF, "")));
          out.write("created", delivery.view().id(), "-", BRIEF);
        });
  }

  private void failing() {
    try {
      engine
          .creator()
          .create(SandboxRequest.of(CreateRequest.of(spec("").build(), CrashServer.BROKEN)));
      out.write("trouble", "create", "-", "a provider that always fails did not");
    } catch (SandboxException e) {
      out.write("failed", "as it must");
    }
  }

  private void failingStartup() {
    CreateRequest request = CreateRequest.of(spec("").build(), "subprocess");
    try {
      engine.creator().create(SandboxRequest.of(request).withStartup(FAILING_STARTUP));
      out.write("trouble", "create", "-", "a startup that always fails did not");
    } catch (InvalidRequest e) {
      out.write("failed", "as it must");
    } catch (OutcomeUnknown | DeadlineExceeded e) {
      out.write("unknown", "create", "-");
    } catch (SandboxException e) {
      out.write("trouble", "create", "-", e);
    }
  }

  private void work(OwnedSandbox one) {
    attempt(
        "exec",
        one.id(),
        () -> {
          String text =
              engine.sandboxes().get(one.id()).run(Command.shell("echo $((6*7))")).stdout().text();
          if (!text.equals("42\n")) {
            out.write("trouble", "exec", one.id(), "it said " + text);
          }
        });
  }

  private void renew(OwnedSandbox one) {
    attempt("renew", one.id(), () -> engine.sandboxes().renew(one.id(), Duration.ofHours(1)));
  }

  private void pauseOr(OwnedSandbox one) {
    if (!one.provider().equals("bubblewrap")) {
      work(one);
      return;
    }
    out.write("pausing", one.id());
    attempt(
        "pause",
        one.id(),
        () -> {
          engine.sandboxes().pause(one.id(), PauseKind.MEMORY);
          out.write("paused", one.id());
          mine.remove(one);
          mine.add(one.paused(true));
        });
  }

  private void resume(OwnedSandbox one) {
    out.write("pausing", one.id());
    attempt(
        "resume",
        one.id(),
        () -> {
          engine.sandboxes().resume(one.id());
          out.write("resumed", one.id());
          mine.remove(one);
          mine.add(one.paused(false));
        });
  }

  private void repeat(OwnedSandbox one) {
    if (one.key().isEmpty()) {
      work(one);
      return;
    }
    attempt(
        "repeat", one.id(), () -> created(engine.creator().create(request(one.key())), one.key()));
  }

  private void end(OwnedSandbox one) {
    out.write("ending", one.id());
    attempt(
        "destroy",
        one.id(),
        () -> {
          engine.sandboxes().destroy(one.id(), DestroyOptions.FORCE);
          out.write("ended", one.id());
          mine.remove(one);
        });
  }

  /** Creates a volume, or removes one of its own. */
  private void volume() {
    if (volumes.size() < FEW) {
      String name = "v" + Long.toString(random.nextLong() & Long.MAX_VALUE, 36);
      out.write("volume-creating", name);
      attempt(
          "volume",
          name,
          () -> {
            try {
              engine.volumes().create("", name, "bubblewrap");
            } catch (ProviderUnavailable e) {
              out.write("unknown", "volume", name); // a health check took too long
              return;
            }
            out.write("volume-created", name);
            volumes.add(name);
          });
      return;
    }
    String name = volumes.removeFirst();
    out.write("volume-removing", name);
    attempt(
        "volume",
        name,
        () -> {
          engine.volumes().remove("", name);
          out.write("volume-removed", name);
        });
  }

  /** Builds a template and waits for it, or removes one of its own. */
  private void template() {
    if (templates.size() < FEW) {
      String name = "t" + Long.toString(random.nextLong() & Long.MAX_VALUE, 36);
      attempt(
          "template",
          name,
          () -> {
            BuildView build = engine.templates().build(name, RECIPE, BUILD);
            templates.add(name);
            while (!engine.templates().build(name, build.id()).state().isOver()) {
              engine.templates().awaitLog(name, build.id(), Long.MAX_VALUE, MOMENT);
            }
          });
      return;
    }
    String name = templates.removeFirst();
    attempt("template", name, () -> engine.templates().remove(name));
  }

  private void attempt(String what, Object target, Runnable work) {
    try {
      work.run();
    } catch (OutcomeUnknown | DeadlineExceeded e) {
      // The machine was suspended. Nothing was acknowledged; the next process checks the outcome,
      // and this one no longer tracks the sandbox.
      out.write("unknown", what, target);
      mine.removeIf(one -> one.id().equals(target));
    } catch (SandboxException e) {
      out.write("trouble", what, target, e);
    }
  }
}
