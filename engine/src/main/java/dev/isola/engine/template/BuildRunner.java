package dev.isola.engine.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.BuildLogEntry.Level;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.lifecycle.InternalSandboxes;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Makes an image by a recipe: its steps run in a sandbox, and the file system of that becomes the
 * image. The sandbox is gone when this returns.
 *
 * @param uploads opens the archive with a SHA-256
 * @param usual the provider of builds that name none
 */
record BuildRunner(
    InternalSandboxes sandboxes,
    TemplateImages images,
    BuildBaseResolver bases,
    BuildCache cache,
    Function<String, InputStream> uploads,
    String defaultProvider) {
  /** On the sandbox of a build: the id of the build. */
  static final String LABEL = "isola.build";

  /** On the sandboxes of all builds, with the same value. */
  static final String KIND_LABEL = "isola.kind";

  static final String KIND = "build";

  /** In the context of an error: the number of the step that failed. */
  static final String STEP = "step";

  private static final Duration LONGEST = Duration.ofHours(1);
  private static final SecureRandom RANDOM = new SecureRandom();

  /** What belongs to the sandbox and not to the image. */
  private static final List<String> NOT_IN_IMAGE =
      List.of("proc/**", "sys/**", "dev/**", "tmp/**", "run/**", "workspace/**", ".isola/**");

  /** A build that is to be run. */
  record Plan(String build, String image, Recipe recipe, BuildSettings settings) {}

  /** A sandbox in which the first steps are done. */
  private record StartedBuild(SandboxId id, int steps) {}

  /** Makes the image; returns what sandboxes that are made from it begin with. */
  Recipe.Defaults build(Plan plan, BuildLog log) throws IOException {
    BuildBase base =
        bases.resolve(plan.recipe().base(), words -> log.info(words, Optional.empty()));
    List<String> keys =
        base.key().map(key -> BuildKeys.of(key, plan.recipe().steps())).orElse(List.of());
    StartedBuild begun = begin(plan, base, keys, log);
    try {
      Sandbox sandbox = sandboxes.sandbox(begun.id());
      BuildStepRunner steps = new BuildStepRunner(sandbox, base.defaults(), log, uploads);
      run(plan.recipe().steps(), begun, steps, keeper(sandbox, keys, log));
      log.info("keeping the file system as an image", Optional.empty());
      try (InputStream root = sandbox.files().exportTree("/", NOT_IN_IMAGE)) {
        images.add(plan.image(), root);
      }
      return new Recipe.Defaults(
          steps.env(),
          steps.user(),
          steps.cwd(),
          plan.recipe().start().or(base.defaults()::start),
          plan.recipe().ready().or(base.defaults()::ready));
    } finally {
      destroy(begun.id(), log);
    }
  }

  /** Keeps the file system after a step, by the step's index. */
  private interface StepCache {
    void keep(int index);
  }

  private static void run(
      List<BuildStep> all, StartedBuild begun, BuildStepRunner steps, StepCache keeper) {
    for (int index = 0; index < all.size(); index++) {
      BuildStep step = all.get(index);
      if (index < begun.steps()) {
        steps.skip(step, index + 1);
        continue;
      }
      try {
        steps.run(step, index + 1);
      } catch (SandboxException e) {
        throw e.fault().with(STEP, Integer.toString(index + 1)).exception(e);
      }
      if (BuildStepRunner.changesFiles(step)) {
        keeper.keep(index);
      }
    }
  }

  private StepCache keeper(Sandbox sandbox, List<String> keys, BuildLog log) {
    if (keys.isEmpty() || !BuildCache.canSave(sandbox)) {
      return index -> {};
    }
    return index -> {
      try {
        cache.save(sandbox.id(), keys.get(index));
      } catch (SandboxException e) {
        log.line(
            Level.WARN, "the step is not cached: " + e.fault().problem(), Optional.of(index + 1));
      }
    };
  }

  /** Begins with what is cached; where that cannot be used, with the base. */
  private StartedBuild begin(Plan plan, BuildBase base, List<String> keys, BuildLog log) {
    Optional<BuildCache.Hit> hit = keys.isEmpty() ? Optional.empty() : cached(keys, log);
    if (hit.isPresent()) {
      String snapshot = hit.get().snapshot();
      try {
        return new StartedBuild(
            create(plan, Optional.of(SnapshotImages.imageName(snapshot))), hit.get().steps());
      } catch (SandboxException e) {
        log.line(
            Level.WARN,
            "the cache cannot be used, and the build goes on without it: " + e.fault().problem(),
            Optional.empty());
        if (!e.code().isRetryable()) {
          forget(snapshot, log);
        }
      }
    }
    return new StartedBuild(create(plan, base.image()), 0);
  }

  private Optional<BuildCache.Hit> cached(List<String> keys, BuildLog log) {
    try {
      return cache.find(keys);
    } catch (SandboxException e) {
      log.line(Level.WARN, "the cache cannot be read: " + e.fault().problem(), Optional.empty());
      return Optional.empty();
    }
  }

  /** What is damaged or stands on an image that is gone never works again. */
  private void forget(String snapshot, BuildLog log) {
    try {
      cache.remove(snapshot);
    } catch (SandboxException e) {
      log.line(
          Level.WARN,
          "the snapshot " + snapshot + " of the cache stays: " + e.fault().problem(),
          Optional.empty());
    }
  }

  private SandboxId create(Plan plan, Optional<String> image) {
    NetworkMode network = plan.settings().network();
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .user("root")
            .cwd("/")
            .network(network == NetworkMode.NONE ? Network.DEFAULT : Network.of(network));
    image.ifPresent(spec::image);
    String provider = plan.settings().provider();
    return sandboxes
        .create(
            SandboxRequest.of(
                    CreateRequest.of(
                            spec.build(),
                            ProviderNames.canonical(
                                provider.isEmpty() ? defaultProvider : provider))
                        .withTtl(LONGEST))
                .withHostAccess() // templates are built with a key of scope admin
                .withLabels(Map.of(LABEL, plan.build(), KIND_LABEL, KIND)))
        .id();
  }

  /** A build that was cancelled does not leave its sandbox. */
  private void destroy(SandboxId id, BuildLog log) {
    boolean interrupted = Thread.interrupted();
    try {
      sandboxes.destroy(id);
    } catch (SandboxException e) {
      log.line(
          Level.WARN,
          "the sandbox of the build is destroyed later: " + e.fault().problem(),
          Optional.empty());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
