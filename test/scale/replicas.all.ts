/** Do more replicas together say and do what two would? */
import { takeDownAfterEach } from "../app/rig.ts";
import { replicaTests } from "./replicas.ts";

takeDownAfterEach();

replicaTests(4);
