package dev.isola.document.recipe;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A build step of a recipe. */
public sealed interface BuildStep {

  /**
   * Runs a shell command with the environment and in the working folder set by earlier steps.
   *
   * @param user the user that runs the command; the current user of the build if empty
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
   * Copies files from an uploaded archive.
   *
   * @param archive the SHA-256 of the archive, 64 hexadecimal digits
   * @param source a path or pattern within the archive; everything if empty or {@code .}
   * @param destination a path in the image, relative to the current working folder of the build
   * @param owner {@code USER} or {@code USER:GROUP}; the current user of the build if empty
   * @param mode permission bits as for chmod; those in the archive if empty
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

  /** Sets environment variables for later steps and for sandboxes. */
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

  /** Sets the working folder for later steps and for sandboxes, creating it if missing. */
  record Workdir(String path) implements BuildStep {
    @Override
    public String text() {
      return "WORKDIR " + path;
    }
  }

  /** Sets the user for later steps and for sandboxes. */
  record User(String name) implements BuildStep {
    @Override
    public String text() {
      return "USER " + name;
    }
  }

  /**
   * Installs packages as root, without questions, and removes the installer's caches.
   *
   * @param installer the program that installs them
   */
  record Packages(Installer installer, List<String> names) implements BuildStep {
    public Packages {
      names = List.copyOf(names);
    }

    public Packages(List<String> names) {
      this(Installer.SYSTEM, names);
    }

    @Override
    public String text() {
      return installer.field().toUpperCase(Locale.ROOT) + " " + String.join(" ", names);
    }
  }

  /** Returns the step as a line of the build log. */
  String text();
}
