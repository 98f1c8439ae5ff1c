package dev.isola.host.launch;

import dev.isola.host.image.Image;
import dev.isola.host.layer.LayerStore;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The root of a sandbox: its base (the host, read-only, or an image below a writable layer) with
 * the workspace, home directories, volumes and the agent mounted on it.
 *
 * @param image empty for the host's root
 * @param agent the agent's executable on the host
 * @param hidden folders of the server
 * @param volumes the named volumes
 * @param disks the disks; if they are not available, files are in a folder of the host
 * @param subordinates the ids with which files of the host are opened, for a server that is not
 *     root
 * @param resolvConf the content of {@code /etc/resolv.conf}
 * @param limited whether the sandbox's users share a quota of inotify instances
 */
public record SandboxRoot(
    SandboxSpec spec,
    SandboxFolder folder,
    SandboxUserIds users,
    Optional<Image> image,
    Path agent,
    List<Path> hidden,
    VolumeFolders volumes,
    Disks disks,
    Optional<SubordinateIds.Pair> subordinates,
    String resolvConf,
    boolean limited) {

  private static final long KILOBYTES_PER_MEGABYTE = 1024;
  private static final long RUN_KILOBYTES = 16 * KILOBYTES_PER_MEGABYTE;

  /** The path of the agent inside the sandbox. */
  public static final String AGENT = "/.isola/agent";

  /**
   * Creates the folders on the host and adds the steps that stage the root.
   *
   * @param initialLayers the initial layers of the workspace, the topmost first
   */
  void plan(LaunchPlan plan, LayerStore layers, List<String> initialLayers) throws IOException {
    WritableLayer layer = new WritableLayer(folder);
    Workspace workspace = new Workspace(folder, users, layers);
    planUsers(plan);
    layer.create(users);
    if (disks.available()) {
      disks.plan(plan, layer, spec.limits().diskMb());
      plan.step("make", layer.resolve(WritableLayer.PUSHED).toString(), "700", "0", "0");
    }
    if (image.isPresent()) {
      layer.plan(plan, users, "upper");
      WritableLayer.create(plan, users, layer.work(), "700");
    } else {
      layer.plan(plan, users, "home", "root", "tmp", "vartmp");
    }
    workspace.planCreation(plan, initialLayers.isEmpty() ? ofImage() : initialLayers);
    Map<VolumeMount, Path> sources = new HashMap<>();
    for (VolumeMount volume : spec.volumes()) {
      if (volume.type() == VolumeMount.Type.VOLUME) {
        sources.put(volume, volumes.plan(plan, volume.source(), spec.limits().diskMb()));
      }
    }
    plan.step("stage");
    if (image.isPresent()) {
      plan.step(
          "overlay",
          image.get().rootfs().toString(),
          layer.resolve("upper").toString(),
          layer.work().toString(),
          "/",
          "mapped");
      ownFolder(plan, "/home/user", "755");
    } else {
      HostRootfs.plan(plan, hidden);
      ownFolder(plan, "/var", "755");
      bind(plan, layer.resolve("home"), "/home/user");
      bind(plan, layer.resolve("root"), "/root");
      bind(plan, layer.resolve("tmp"), "/tmp");
      bind(plan, layer.resolve("vartmp"), "/var/tmp");
    }
    for (String folderName : List.of("/proc", "/dev", "/sys")) {
      ownFolder(plan, folderName, "755");
    }
    plan.step("tmpfs", "/run", TmpfsOptions.of(RUN_KILOBYTES, users));
    EtcFiles.plan(plan, spec.id().value(), resolvConf, image.isEmpty());
    if (spec.workspacePath().isPresent()) {
      shared(plan, spec.workspacePath().get(), spec.workspaceMount(), false);
    } else {
      plan.add(workspace.step(spec.workspaceMount()));
    }
    for (VolumeMount volume : spec.volumes()) {
      mount(plan, volume, sources);
    }
    plan.step("reserve");
    plan.step("bind", layer.path().toString(), WritableLayer.INSIDE, "ro");
    if (spec.workspacePath().isEmpty()) { // measured as the sandbox sees it, layers included
      plan.step("again", spec.workspaceMount(), WritableLayer.INSIDE + "/" + Workspace.NAME);
    }
    if (image.isPresent()) { // files missing from the root were removed
      plan.step(
          "bind", image.get().rootfs().toString(), ChangeTrackingRecord.IMAGE, "ro", "mapped");
    }
    plan.step("bind", agent.toString(), AGENT, "ro");
  }

  private void planUsers(LaunchPlan plan) {
    List<String> step = new ArrayList<>();
    if (users.hasRange()) {
      step.addAll(List.of("users", "0", users.root(), Integer.toString(SandboxUserIds.COUNT)));
    } else {
      step.addAll(SubordinateIds.userNamespaceStep(subordinates));
    }
    if (limited) {
      step.add(KernelObjectLimits.LIMITED);
    }
    plan.add(step);
  }

  /** Returns the image's folder at the workspace's path as a layer, if it has files. */
  private List<String> ofImage() throws IOException {
    if (image.isEmpty() || spec.workspacePath().isPresent()) {
      return List.of();
    }
    Path rootfs = image.get().rootfs();
    Path place = rootfs.resolve(spec.workspaceMount().substring(1)).normalize();
    boolean real =
        place.startsWith(rootfs)
            && !place.toString().contains("\n")
            && Files.isDirectory(place)
            && place.toRealPath().equals(rootfs.toRealPath().resolve(rootfs.relativize(place)));
    if (!real) {
      return List.of();
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(place)) {
      return files.iterator().hasNext() ? List.of(place.toString()) : List.of();
    }
  }

  private void ownFolder(LaunchPlan plan, String path, String mode) {
    plan.step("folder", path, mode, users.root(), users.root());
  }

  private static void bind(LaunchPlan plan, Path source, String destination) {
    plan.step("bind", source.toString(), destination);
  }

  /** Adds the step that mounts a host folder with the same owners inside and outside. */
  private static void shared(LaunchPlan plan, Path source, String destination, boolean readOnly) {
    if (readOnly) {
      plan.step("bind", source.toString(), destination, "mapped", "ro");
    } else {
      plan.step("bind", source.toString(), destination, "mapped");
    }
  }

  private void mount(LaunchPlan plan, VolumeMount volume, Map<VolumeMount, Path> sources) {
    switch (volume.type()) {
      case BIND -> shared(plan, Path.of(volume.source()), volume.destination(), volume.readOnly());
      case VOLUME ->
          shared(
              plan,
              Objects.requireNonNull(sources.get(volume)),
              volume.destination(),
              volume.readOnly());
      case TMPFS ->
          plan.step(
              "tmpfs",
              volume.destination(),
              TmpfsOptions.of(spec.limits().memoryMb() * KILOBYTES_PER_MEGABYTE, users)
                  + (volume.readOnly() ? ",ro" : ""));
    }
  }
}
