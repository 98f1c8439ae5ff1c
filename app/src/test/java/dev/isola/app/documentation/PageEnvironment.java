package dev.isola.app.documentation;

import java.util.Map;
import java.util.Optional;

/**
 * What the blocks of a page find on the machine.
 *
 * @param inClone whether the current folder is a clone, with {@code ./isola}
 * @param variables environment variables, in addition to those of this process
 * @param port replaces 7777 in the blocks
 * @param obstacle why programs cannot run here
 */
record PageEnvironment(
    boolean inClone, Map<String, String> variables, String port, Optional<String> obstacle) {}
