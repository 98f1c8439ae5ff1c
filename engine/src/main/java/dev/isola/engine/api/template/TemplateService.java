package dev.isola.engine.api.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildLogPage;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.BuildEntry;
import dev.isola.store.DiskReserve;
import dev.isola.store.Ledger;
import dev.isola.store.TemplateEntry;
import dev.isola.store.TemplateEntry.State;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Declares, builds, lists and removes templates. Templates belong to the operator and are visible
 * to all tenants. Callers check that the client has the required scope.
 */
public final class TemplateService implements AutoCloseable {
  /** The maximum number of templates. */
  public static final int MAX_TEMPLATES = 10_000;

  /** The label on the sandbox of a build; its value is the build id. */
  public static final String BUILD_LABEL = BuildRunner.LABEL;

  private static final int MOST_LINES = 1000;

  private final Ledger ledger;
  private final TemplateDeclarations declarations;
  private final Optional<TemplateImages> images;
  private final Uploads uploads;
  private final BuildLogs logs;
  private final BuildCache cache;
  private final BuildScheduler builds;
  private final TemplateCleanup remains;
  private final ImageBuilds imageBuilds;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param images the image store; empty if templates cannot be built
   * @param folder the folder for logs, uploads and the cache
   * @param defaultProvider the provider of builds that name none
   */
  public TemplateService(
      Ledger ledger,
      TemplateDeclarations declarations,
      Optional<TemplateImages> images,
      SandboxCreator creator,
      Sandboxes sandboxes,
      SnapshotService snapshots,
      Path folder,
      String defaultProvider,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.declarations = declarations;
    this.images = images;
    this.clock = clock;
    uploads = new Uploads(folder.resolve("uploads"), Uploads.LARGEST, clock);
    logs = new BuildLogs(folder.resolve("logs"), clock);
    cache = new BuildCache(snapshots, folder.resolve("cache"), clock);
    TemplateImages stored = images.orElse(TemplateImages.NONE);
    BuildRunner runner =
        new BuildRunner(
            creator,
            sandboxes,
            stored,
            new BuildBaseResolver(stored, declarations::requireBuilt),
            cache,
            uploads::open,
            defaultProvider);
    builds = new BuildScheduler(ledger, runner, logs, clock, log);
    remains = new TemplateCleanup(ledger, stored, sandboxes, builds, logs, clock, log);
    imageBuilds = new ImageBuilds(runner, builds, stored, this::check, clock);
  }

  /** Returns the builds of images that belong to no template. */
  public ImageBuilds imageBuilds() {
    return imageBuilds;
  }

  /** Returns all templates, sorted by name. */
  public List<TemplateView> list() {
    return available().stream()
        .map(TemplateViews::of)
        .sorted(Comparator.comparing(TemplateView::name))
        .toList();
  }

  private List<TemplateEntry> available() {
    return ledger.templates().all().stream()
        .filter(entry -> entry.state() == State.AVAILABLE)
        .toList();
  }

  /**
   * Finds a template, built or not.
   *
   * @param name its id or one of its names; the tags {@code default} and {@code latest} mean no tag
   */
  public Optional<TemplateView> find(String name) {
    return declarations.find(name).map(TemplateViews::of);
  }

  /**
   * Returns a built template, whose {@code image} is present.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such template, or it has not been built
   */
  public TemplateView requireBuilt(String name) {
    return declarations.requireBuilt(name);
  }

  /**
   * Declares a template to build, or requests a new build of an existing one. {@link
   * TemplateView#build} is the id of that build, for {@link #startBuild}.
   *
   * @param name may include a tag
   * @param tags further tags
   */
  public TemplateView declare(
      String name, List<String> tags, Optional<Long> cpus, Optional<Long> memoryMb) {
    Set<String> names = TemplateNames.of(name, tags);
    return locked(() -> TemplateViews.of(declarations.declare(names, cpus, memoryMb)));
  }

  private void refuseWithoutImages() {
    if (images.isEmpty()) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "templates cannot be built: this server has no image store",
              "build them on a server with an image store")
          .exception();
    }
  }

  /**
   * Starts the build that {@link #declare} requested, in the background.
   *
   * @throws dev.isola.spi.error.Conflict if it was already started, or a newer build was requested
   * @throws dev.isola.spi.error.NotFound if the base, or an archive of a COPY step, does not exist
   */
  public BuildView startBuild(
      String template, String build, Recipe recipe, BuildSettings settings) {
    check(recipe);
    return locked(
        () -> {
          TemplateEntry entry = declarations.require(template);
          if (!entry.build().equals(build)) {
            throw Fault.of(
                    ErrorCode.CONFLICT,
                    "a newer build was requested",
                    "declare the template again and start that build")
                .exception();
          }
          Instant now = declarations.now();
          BuildEntry begun =
              new BuildEntry(
                  build,
                  entry.id(),
                  BuildEntry.State.WAITING,
                  "template-" + build,
                  "",
                  Optional.empty(),
                  now,
                  now);
          builds.start(begun, recipe, settings);
          return TemplateViews.of(begun);
        });
  }

  /** Rejects a recipe that cannot be built, before anything is recorded. */
  private void check(Recipe recipe) {
    refuseWithoutImages();
    RecipeValidator.check(recipe);
    if (recipe.base() instanceof Recipe.Base.FromTemplate(String name)) {
      TemplateView _ = declarations.requireBuilt(name);
    }
    for (BuildStep step : recipe.steps()) {
      if (step instanceof BuildStep.Copy copy && !uploads.contains(copy.archive())) {
        throw Uploads.missing(copy.archive()).exception();
      }
    }
  }

  /** Declares a template and starts a build of it. */
  public BuildView build(String name, Recipe recipe, BuildSettings settings) {
    check(recipe);
    TemplateView declared = declare(name, List.of(), recipe.cpus(), recipe.memoryMb());
    return startBuild(declared.id(), declared.build(), recipe, settings);
  }

  /** Returns the recorded builds of a template, newest first. */
  public List<BuildView> builds(String template) {
    return ledger.templates().builds(declarations.require(template).id()).reversed().stream()
        .map(TemplateViews::of)
        .toList();
  }

  /**
   * Returns a build.
   *
   * @throws dev.isola.spi.error.NotFound if the template has no such build
   */
  public BuildView build(String template, String build) {
    return findBuild(template, build)
        .orElseThrow(
            () ->
                TemplateDeclarations.missing("template '" + template + "' has no build " + build));
  }

  /** Returns a build; empty if it was not started, or its record was removed. */
  public Optional<BuildView> findBuild(String template, String build) {
    String id = declarations.require(template).id();
    return ledger
        .templates()
        .build(build)
        .filter(entry -> entry.template().equals(id))
        .map(TemplateViews::of);
  }

  /**
   * Returns lines of a build log.
   *
   * @param offset the number of lines to skip
   * @param limit the maximum number of lines to return
   */
  public BuildLogPage log(String template, String build, long offset, int limit) {
    String id = build(template, build).id();
    // Checked before reading, so that the lines are complete if the build has ended.
    boolean ended = !builds.isRunning(id);
    long complete = builds.log(id).map(BuildLog::lines).orElse(Long.MAX_VALUE);
    int most = Math.clamp(limit, 1, MOST_LINES);
    List<BuildLogEntry> lines = logs.read(id, offset, Math.clamp(complete - offset, 0, most));
    return new BuildLogPage(lines, offset + lines.size(), ended && lines.size() < most);
  }

  /**
   * Waits until the log of a build has line {@code offset}, or the build has ended.
   *
   * @return false if the wait timed out
   */
  public boolean awaitLog(String template, String build, long offset, Duration most) {
    Optional<BuildLog> running = builds.log(build(template, build).id());
    try {
      return running.isEmpty() || running.get().await(offset, most);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Adds tags to a built template.
   *
   * @param name the template, or one of its tags
   * @throws dev.isola.spi.error.InvalidRequest if the name or a tag is not valid
   * @throws dev.isola.spi.error.NotFound if there is no such template or tag, or it was never built
   */
  public TemplateView tag(String name, List<String> tags) {
    Set<String> _ = TemplateNames.of(name, tags);
    return locked(() -> TemplateViews.of(declarations.tag(name, tags)));
  }

  /**
   * Removes tags from a template.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the name or a tag is not valid
   * @throws dev.isola.spi.error.NotFound if there is no such template, or one of the tags does not
   *     exist; then nothing is removed
   */
  public void untag(String name, List<String> tags) {
    Set<String> _ = TemplateNames.of(name, tags);
    boolean _ =
        locked(
            () -> {
              declarations.untag(name, tags);
              return true;
            });
  }

  /**
   * Removes a template with its image, builds and logs; cancels a running build.
   *
   * @throws dev.isola.spi.error.Conflict if a sandbox uses its image; the template is then kept
   */
  public void remove(String name) {
    TemplateEntry entry =
        locked(
            () -> {
              TemplateEntry removing =
                  declarations.require(name).withState(State.REMOVING, declarations.now());
              boolean _ = DiskReserve.freeing(() -> ledger.templates().update(removing));
              return removing;
            });
    remains.remove(entry);
  }

  /** Returns whether an archive was uploaded. */
  public boolean hasArchive(String sha256) {
    return uploads.contains(sha256);
  }

  /**
   * Stores an archive for {@link BuildStep.Copy}: a tar, optionally gzipped.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the SHA-256 of the content differs
   * @throws dev.isola.spi.error.LimitExceeded if it is larger than 4 GiB
   */
  public void upload(String sha256, InputStream content) throws IOException {
    uploads.put(sha256, content);
  }

  /**
   * Stores an archive under a name chosen by the client, for {@link #findArchive}.
   *
   * @return its SHA-256
   */
  public String uploadAs(String name, InputStream content) throws IOException {
    return uploads.putAs(name, content);
  }

  /** Returns the SHA-256 of the archive that a client uploaded under a name. */
  public Optional<String> findArchive(String name) {
    return uploads.named(name);
  }

  /** Marks builds that a restart interrupted as failed. Call it before new builds start. */
  public void recover() {
    remains.failInterrupted();
  }

  /** Removes sandboxes, images and records that a crash left behind or that were in use before. */
  public void reconcile() {
    remains.reconcile();
  }

  /** Removes uploads and cached steps that no build has used for {@code maxAge}. */
  public void removeUnused(Duration maxAge) {
    Instant since = clock.instant().minus(maxAge);
    try {
      uploads.removeUnusedSince(since);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int _ = cache.removeUnusedSince(since);
  }

  /** Cancels running builds. */
  @Override
  public void close() {
    builds.close();
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }
}
