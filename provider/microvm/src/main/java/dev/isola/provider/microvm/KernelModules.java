package dev.isola.provider.microvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The modules of a kernel that a machine needs to boot, in the order in which they are loaded. */
final class KernelModules {
  /** What a machine cannot do without: disks, file systems, the channel to the host. */
  private static final List<String> NECESSARY = List.of("virtio_blk", "erofs", "overlay", "ext4");

  /** Depends on the machine: the bus, the channel, the network. */
  private static final List<String> OPTIONAL =
      List.of(
          "virtio_pci",
          "virtio_mmio",
          "virtio_console",
          "vmw_vsock_virtio_transport",
          "virtio_net");

  private KernelModules() {}

  /**
   * Returns the files to load, dependencies first.
   *
   * @throws IOException if the kernel lacks something that every machine needs
   */
  static List<Path> of(GuestKernel kernel) throws IOException {
    Path folder = kernel.modules();
    Map<String, List<String>> dependencies = read(folder.resolve("modules.dep"));
    Set<String> builtIn = builtIn(folder.resolve("modules.builtin"));
    Set<Path> ordered = new LinkedHashSet<>();
    for (String name : Stream.concat(OPTIONAL.stream(), NECESSARY.stream()).toList()) {
      List<String> files =
          dependencies.entrySet().stream()
              .filter(entry -> nameOf(entry.getKey()).equals(name))
              .map(entry -> withDependencies(entry.getKey(), entry.getValue()))
              .findFirst()
              .orElse(List.of());
      if (files.isEmpty() && NECESSARY.contains(name) && !builtIn.contains(name)) {
        throw new IOException("the kernel " + kernel.release() + " has no module " + name);
      }
      files.forEach(file -> ordered.add(folder.resolve(file)));
    }
    return List.copyOf(ordered);
  }

  /** {@code modules.dep} lists what a module needs in the reverse order of loading. */
  private static List<String> withDependencies(String file, List<String> needed) {
    List<String> all = new ArrayList<>(needed.reversed());
    all.add(file);
    return all;
  }

  private static Map<String, List<String>> read(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.contains(":"))
          .collect(
              Collectors.toMap(
                  line -> line.substring(0, line.indexOf(':')),
                  line ->
                      Stream.of(line.substring(line.indexOf(':') + 1).split(" "))
                          .filter(word -> !word.isEmpty())
                          .toList(),
                  (first, _) -> first));
    }
  }

  private static Set<String> builtIn(Path file) throws IOException {
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
