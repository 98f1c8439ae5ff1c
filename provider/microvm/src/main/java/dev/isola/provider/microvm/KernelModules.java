package dev.isola.provider.microvm;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.host.image.Decompression;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The modules of a kernel that a machine needs to boot, in the order in which they are loaded. */
final class KernelModules {
  /** What every machine needs: disks and file systems. */
  private static final List<String> NECESSARY = List.of("virtio_blk", "erofs", "overlay", "ext4");

  /**
   * What depends on the machine: the bus, the channel, the network; and what redirects connections
   * to other hosts to the agent.
   */
  private static final List<String> OPTIONAL =
      List.of(
          "virtio_pci",
          "virtio_mmio",
          "virtio_console",
          "vmw_vsock_virtio_transport",
          "virtio_net",
          "nft_chain_nat",
          "nft_redir");

  /** Distributions compress modules in these ways. */
  private static final List<String> SUFFIXES = List.of("", ".xz", ".zst", ".gz");

  /** The names of the modules that a module needs, in its own text. */
  private static final Pattern DEPENDS = Pattern.compile("\0depends=([A-Za-z0-9_,-]*)\0");

  private final Map<String, Path> files;
  private final Map<String, byte[]> ordered = new LinkedHashMap<>();

  private KernelModules(Map<String, Path> files) {
    this.files = files;
  }

  /**
   * Returns the modules to load, dependencies first, uncompressed.
   *
   * @throws IOException if the kernel lacks something that every machine needs
   */
  static List<byte[]> of(GuestKernel kernel) throws IOException {
    Path folder = kernel.modules();
    KernelModules modules = new KernelModules(files(folder));
    Set<String> builtIn = names(folder.resolve("modules.builtin"));
    for (String name : OPTIONAL) {
      modules.add(name);
    }
    for (String name : NECESSARY) {
      if (!modules.add(name) && !builtIn.contains(name)) {
        throw new IOException("the kernel " + kernel.release() + " has no module " + name);
      }
    }
    return List.copyOf(modules.ordered.values());
  }

  /** Adds a module after those that it needs; returns false if there is none. */
  private boolean add(String name) throws IOException {
    if (ordered.containsKey(name)) {
      return true;
    }
    Path file = files.get(name);
    if (file == null) {
      return false;
    }
    byte[] content;
    try (InputStream in = Decompression.of(new BufferedInputStream(Files.newInputStream(file)))) {
      content = in.readAllBytes();
    }
    Matcher depends = DEPENDS.matcher(new String(content, ISO_8859_1));
    if (depends.find()) {
      for (String needed : depends.group(1).split(",")) {
        add(nameOf(needed));
      }
    }
    ordered.put(name, content);
    return true;
  }

  private static Map<String, Path> files(Path folder) throws IOException {
    Map<String, Path> files = new HashMap<>();
    try (Stream<String> lines = Files.lines(folder.resolve("modules.order"))) {
      for (String line : lines.toList()) {
        String plain = line.substring(0, line.lastIndexOf(".ko") + 3);
        Optional<Path> file =
            SUFFIXES.stream()
                .map(suffix -> folder.resolve(plain + suffix))
                .filter(Files::isRegularFile)
                .findFirst();
        file.ifPresent(found -> files.put(nameOf(plain), found));
      }
    }
    return files;
  }

  private static Set<String> names(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.map(KernelModules::nameOf).collect(Collectors.toSet());
    }
  }

  /** Returns the name of a module, in which dashes and underscores mean the same. */
  private static String nameOf(String file) {
    String name = file.substring(file.lastIndexOf('/') + 1);
    int end = name.indexOf(".ko");
    return (end < 0 ? name : name.substring(0, end)).replace('-', '_');
  }
}
