package dev.isola.engine.template;

import dev.isola.document.recipe.Recipe;
import dev.isola.document.recipe.Step;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.TemplateView;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Templates of the operator, seen by all tenants: declared, built, listed and removed. Callers
 * check that the client has the scope for it.
 */
public final class TemplateService {

  /** Returns all templates, by name. */
  public List<TemplateView> list() {
    throw new UnsupportedOperationException();
  }

  /**
   * Finds a template, built or not.
   *
   * @param name its id or one of its names; the tags {@code default} and {@code latest} mean none
   */
  public Optional<TemplateView> find(String name) {
    throw new UnsupportedOperationException();
  }

  /**
   * Returns a template from which sandboxes can be made: its {@code image} is there.
   *
   * @throws dev.isola.spi.error.NotFound when there is none, or none that was built
   */
  public TemplateView built(String name) {
    throw new UnsupportedOperationException();
  }

  /**
   * Names a template that is to be built, or asks for a new build of one that has the name. {@link
   * TemplateView#build} is the id of that build, for {@link #begin}.
   *
   * @param name may have a tag
   * @param tags further ones
   */
  public TemplateView declare(
      String name, List<String> tags, Optional<Long> cpus, Optional<Long> memoryMb) {
    throw new UnsupportedOperationException();
  }

  /**
   * Begins the build that {@link #declare} asked for; it goes on by itself.
   *
   * @throws dev.isola.spi.error.Conflict when it was begun already, or a newer one was asked for
   */
  public BuildView begin(String template, String build, Recipe recipe, BuildSettings settings) {
    throw new UnsupportedOperationException();
  }

  /** Declares a template and begins a build of it. */
  public BuildView build(String name, Recipe recipe, BuildSettings settings) {
    TemplateView declared = declare(name, List.of(), recipe.cpus(), recipe.memoryMb());
    return begin(declared.id(), declared.build(), recipe, settings);
  }

  /** Returns the builds of a template that are remembered, newest first. */
  public List<BuildView> builds(String template) {
    throw new UnsupportedOperationException();
  }

  /**
   * Returns a build.
   *
   * @throws dev.isola.spi.error.NotFound when the template has no such build
   */
  public BuildView build(String template, String build) {
    throw new UnsupportedOperationException();
  }

  /**
   * Returns lines of the log of a build.
   *
   * @param offset how many lines to skip
   * @param limit how many lines to return at most
   */
  public BuildLogPage log(String template, String build, long offset, int limit) {
    throw new UnsupportedOperationException();
  }

  /**
   * Waits until the log of a build has a line with the number {@code offset}, or the build is over.
   *
   * @return whether that is so; false when the time was up before
   */
  public boolean awaitLog(String template, String build, long offset, Duration most) {
    throw new UnsupportedOperationException();
  }

  /** Gives a template further tags. */
  public TemplateView tag(String name, List<String> tags) {
    throw new UnsupportedOperationException();
  }

  /**
   * Removes a template with its image, its builds and their logs; ends a build that goes on.
   *
   * @throws dev.isola.spi.error.Conflict while a sandbox stands on its image; it stays then
   */
  public void remove(String name) {
    throw new UnsupportedOperationException();
  }

  /** Returns whether an archive was uploaded. */
  public boolean hasArchive(String sha256) {
    throw new UnsupportedOperationException();
  }

  /**
   * Keeps an archive for {@link Step.Copy}: a tar, with or without gzip.
   *
   * @throws dev.isola.spi.error.InvalidRequest when the content has another SHA-256
   * @throws dev.isola.spi.error.LimitExceeded when it is larger than 4 GiB
   */
  public void upload(String sha256, InputStream content) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Keeps an archive under a name that a client chose, for {@link #archiveOf}.
   *
   * @return its SHA-256
   */
  public String uploadAs(String name, InputStream content) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Returns the SHA-256 of the archive that a client uploaded under a name. */
  public Optional<String> archiveOf(String name) {
    throw new UnsupportedOperationException();
  }
}
