package dev.isola.document.recipe;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One step of a recipe. */
public sealed interface BuildStep {

  /**
   * Runs a shell command, with the environment and in the folder of the steps before.
   *
   * @param user that runs it; that of the steps before when empty
   */
  record Run(String command, Optional<String> user) implements BuildStep {
    public Run(String command) {
      this(command, Optional.empty());
    }

    @Override
    public String text() {
      return "RUN " + user.map(name -> "--user=" + name + " ").orElse("") + command;
    }
  }

  /**
   * Copies files of an uploaded archive.
   *
   * @param archive its SHA-256, 64 hexadecimal digits
   * @param source a path or pattern inside of the archive; everything when empty or {@code .}
   * @param destination a path in the image, relative to the folder of the steps before
   * @param owner {@code USER} or {@code USER:GROUP}; the user of the steps before when empty
   * @param mode as of chmod; that of the archive when empty
   */
  record Copy(
      String archive,
      String source,
      String destination,
      Optional<String> owner,
      Optional<String> mode)
      implements BuildStep {
    public Copy(String archive, String source, String destination) {
      this(archive, source, destination, Optional.empty(), Optional.empty());
    }

    @Override
    public String text() {
      return "COPY "
          + owner.map(name -> "--chown=" + name + " ").orElse("")
          + mode.map(bits -> "--chmod=" + bits + " ").orElse("")
          + source
          + " "
          + destination;
    }
  }

  /** Sets environment variables of the steps that follow and of sandboxes. */
  record Env(Map<String, String> variables) implements BuildStep {
    public Env {
      variables = Map.copyOf(variables);
    }

    @Override
    public String text() {
      return "ENV "
          + new TreeMap<>(variables)
              .entrySet().stream()
                  .map(one -> one.getKey() + "=" + one.getValue())
                  .collect(Collectors.joining(" "));
    }
  }

  /** Sets the folder of the steps that follow and of sandboxes, and creates it. */
  record Workdir(String path) implements BuildStep {
    @Override
    public String text() {
      return "WORKDIR " + path;
    }
  }

  /** Sets the user of the steps that follow and of sandboxes. */
  record User(String name) implements BuildStep {
    @Override
    public String text() {
      return "USER " + name;
    }
  }

  /** Installs packages with the package manager of the image. */
  record Packages(List<String> names) implements BuildStep {
    public Packages {
      names = List.copyOf(names);
    }

    @Override
    public String text() {
      return "PACKAGES " + String.join(" ", names);
    }
  }

  /** Returns the step as one line of a log. */
  String text();
}
