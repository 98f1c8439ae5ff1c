package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Builds from packages with mmdebstrap, which works without root, or debootstrap, which does not.
 * The result is unpacked like any archive.
 */
final class DebianSource extends ImageSource {
  private static final Duration TIMEOUT = Duration.ofMinutes(60);

  /** Scripts run in the new root, whose programs are not in the same places as the host's. */
  private static final String PATH =
      "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";

  /** Removes caches and package lists, which an image does not need, and the names of the host. */
  private static final String CLEAN =
      PATH
          + """
          apt-get clean
          rm -rf /var/lib/apt/lists/* /var/log/bootstrap.log /etc/hostname /etc/resolv.conf
          """;

  private static final String ACCOUNT =
      PATH
          + """
          set -e
          useradd --uid 1000 --user-group --groups sudo --create-home --home-dir /home/user --shell /bin/bash user
          mkdir -p /workspace /etc/sudoers.d
          chown user:user /workspace
          echo 'user ALL=(ALL:ALL) NOPASSWD: ALL' > /etc/sudoers.d/user
          chmod 0440 /etc/sudoers.d/user
          """;

  private final DebianRecipe recipe;
  private final AptSources hostSources;

  DebianSource(DebianRecipe recipe) {
    this(recipe, new AptSources(Path.of("/etc/apt")));
  }

  DebianSource(DebianRecipe recipe, AptSources hostSources) {
    this.recipe = recipe;
    this.hostSources = hostSources;
  }

  @Override
  String description() {
    return recipe.distribution()
        + ":"
        + recipe.suite()
        + " "
        + recipe.variant()
        + (recipe.packages().isEmpty() ? "" : " with " + String.join(",", recipe.packages()));
  }

  @Override
  ImageDefaults unpack(UnpackContext context) throws IOException {
    Optional<Path> mmdebstrap = ExternalTool.find("mmdebstrap");
    if (mmdebstrap.isPresent()) {
      mmdebstrap(context);
    } else if (ExternalTool.find("debootstrap").isPresent() && context.preserveOwners()) {
      debootstrap(context);
    } else {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              context.preserveOwners()
                  ? "neither mmdebstrap nor debootstrap is installed"
                  : "without root, building needs mmdebstrap, which is not installed",
              context.preserveOwners()
                  ? "install one (apt-get install mmdebstrap)"
                  : "install it (apt-get install mmdebstrap uidmap), or build as root")
          .exception();
    }
    return recipe.defaults();
  }

  private void mmdebstrap(UnpackContext context) throws IOException {
    String remedy =
        context.preserveOwners()
            ? "fix the problem, then try again"
            : "without root, mmdebstrap needs user namespaces, newuidmap (apt-get install uidmap)"
                + " and a range of ids for your user in /etc/subuid and /etc/subgid";
    new ExternalTool("mmdebstrap", "mmdebstrap", TIMEOUT, context.progress(), remedy)
        .run(
            mmdebstrapWords(context.preserveOwners(), AptSources.options()),
            out -> TarSource.unpack(out, context));
  }

  List<String> mmdebstrapWords(boolean root, List<String> aptOptions) {
    List<String> words = new ArrayList<>();
    words.add("--mode=" + (root ? "root" : "unshare"));
    words.add("--variant=" + recipe.variant());
    words.add("--format=tar");
    if (!recipe.packages().isEmpty()) {
      words.add("--include=" + String.join(",", recipe.packages()));
    }
    aptOptions.forEach(option -> words.add("--aptopt=" + option));
    if (recipe.account()) {
      words.add("--customize-hook=chroot \"$1\" /bin/sh -c '" + quoted(ACCOUNT) + "'");
    }
    words.add("--customize-hook=chroot \"$1\" /bin/sh -c '" + quoted(CLEAN) + "'");
    words.add(recipe.suite());
    words.add("-");
    recipe.mirror().ifPresent(words::add);
    if (recipe.mirror().isEmpty()) {
      hostSources.of(recipe.suite()).forEach(source -> words.add(source.line()));
    }
    return words;
  }

  private static String quoted(String script) {
    return script.replace("'", "'\\''");
  }

  private void debootstrap(UnpackContext context) throws IOException {
    Path root = Files.createDirectory(context.work().resolve("debootstrap"));
    // Its mounts disappear with its own mount namespace, however it ends.
    List<String> words = new ArrayList<>(List.of("--mount", "--propagation", "private"));
    words.add(ExternalTool.find("debootstrap").orElseThrow().toString());
    words.addAll(debootstrapWords(root));
    new ExternalTool("unshare", "util-linux", TIMEOUT, context.progress()).run(words);
    ExternalTool chroot = tool("chroot", context.progress());
    if (recipe.account()) {
      chroot.run(List.of(root.toString(), "/bin/sh", "-c", ACCOUNT));
    }
    chroot.run(List.of(root.toString(), "/bin/sh", "-c", CLEAN));
    context.progress().accept("copying");
    new FolderSource(root).unpack(context);
  }

  List<String> debootstrapWords(Path root) {
    List<String> words = new ArrayList<>();
    words.add("--variant=" + recipe.variant());
    if (!recipe.packages().isEmpty()) {
      words.add("--include=" + String.join(",", recipe.packages()));
    }
    List<AptSources.Source> sources =
        recipe.mirror().isPresent() ? List.of() : hostSources.of(recipe.suite());
    Optional<AptSources.Source> own =
        sources.stream().filter(source -> source.suite().equals(recipe.suite())).findFirst();
    own.flatMap(AptSources.Source::signedBy).ifPresent(key -> words.add("--keyring=" + key));
    words.add(recipe.suite());
    words.add(root.toString());
    recipe.mirror().or(() -> own.map(AptSources.Source::uri)).ifPresent(words::add);
    return words;
  }

  private static ExternalTool tool(String program, Consumer<String> progress) {
    return new ExternalTool(program, program, TIMEOUT, progress);
  }
}
