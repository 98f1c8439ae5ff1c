package dev.isola.compat.e2b.template;

import dev.isola.engine.api.TemplateView;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A template: the image of a sandbox and the defaults of its commands.
 *
 * @param id the id that E2B's clients use
 * @param names further names
 * @param image the image as named in a spec; empty before the first build, and for the root file
 *     system of the host
 * @param env environment of every command
 * @param user the default user of commands; empty for the provider's default
 * @param folder the working directory of commands; empty for the workspace
 * @param start a command that runs in the background of every sandbox
 * @param ready a command that succeeds once {@code start} is ready
 * @param build the last successful build, or the running one
 */
public record E2bTemplate(
    String id,
    List<String> names,
    Optional<String> image,
    Map<String, String> env,
    String user,
    String folder,
    Optional<String> start,
    Optional<String> ready,
    Optional<Long> cpus,
    Optional<Long> memoryMb,
    String build,
    Instant createdAt) {
  /** The default user of commands and its home directory. */
  public static final String USER = "user";

  public static final String HOME = "/home/user";

  public E2bTemplate {
    names = List.copyOf(names);
    env = Map.copyOf(env);
  }

  /** The programs and users of the host, for providers that do not support images. */
  public static final E2bTemplate HOST = of("host", Optional.empty(), "", "");

  /** Returns a template that consists only of an image. */
  public static E2bTemplate of(String id, String image) {
    return of(id, Optional.of(image), USER, HOME);
  }

  /**
   * Converts a template of the engine. An absent user or working directory is replaced by the
   * default of E2B's templates.
   */
  static E2bTemplate of(TemplateView view) {
    return new E2bTemplate(
        view.id(),
        view.names(),
        view.image(),
        view.env(),
        view.user().isEmpty() ? USER : view.user(),
        view.cwd().isEmpty() ? HOME : view.cwd(),
        view.start(),
        view.ready(),
        view.cpus(),
        view.memoryMb(),
        view.build(),
        view.createdAt());
  }

  private static E2bTemplate of(String id, Optional<String> image, String user, String folder) {
    return new E2bTemplate(
        id,
        List.of(id),
        image,
        Map.of(),
        user,
        folder,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        "",
        Instant.EPOCH);
  }

  /** Returns this template with the image of another one. */
  public E2bTemplate onFilesOf(E2bTemplate files) {
    return new E2bTemplate(
        files.id(),
        files.names(),
        files.image(),
        env,
        user,
        folder,
        start,
        ready,
        cpus,
        memoryMb,
        build,
        createdAt);
  }

  /** Returns this template with a start command. */
  public E2bTemplate withStart(String command) {
    return new E2bTemplate(
        id,
        names,
        image,
        env,
        user,
        folder,
        Optional.of(command),
        ready,
        cpus,
        memoryMb,
        build,
        createdAt);
  }
}
